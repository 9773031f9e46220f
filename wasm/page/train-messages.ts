/** What the page and the Worker that trains say to each other. */

export type TrainQuestion =
  /** The columns of a table. */
  | { kind: 'columns'; name: string; bytes: Uint8Array }
  /** Models of these numbers of features, one after the other; of the columns' last table. */
  | { kind: 'train'; target: string | undefined; drop: string[]; features: number[] }
  /** The best model of at most so many bytes. */
  | { kind: 'search'; target: string | undefined; drop: string[]; flash: number };

/** What is used of what `koan train --json` prints. */
export interface Report {
  task: string;
  family: string;
  features: number;
  bits: number;
  bytes: number;
  /** On the test rows: fraction misclassified, or relative RMS error. */
  error: number;
  rows: number;
  train_rows: number;
  baselines?: { constant: number; linear?: number };
  warnings?: string[];
}

export type TrainAnswer =
  | { kind: 'columns'; names: string[] }
  | { kind: 'step'; text: string }
  | { kind: 'model'; blob: Uint8Array; report: Report; options: string; seconds: number }
  /** All that was asked for is there. */
  | { kind: 'done' }
  /** `column`: the one, from 1, without which the table could be read. */
  | { kind: 'problem'; message: string; column?: number | undefined };

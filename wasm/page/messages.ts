/** What the page and its Workers say to each other. */

/** What the page shows of a model. */
export interface Summary {
  name: string;
  bytes: number;
  task: string;
  features: number;
  outputs: number;
  classNames: readonly string[];
  /** A sentence: what a row is. */
  rows: string;
  /** A row as code. */
  sample: string;
  /** Whether it recognises what is drawn. */
  draws: boolean;
}

export type Question =
  /** Loads the page's own models. */
  | { kind: 'start' }
  | { kind: 'digit'; row: Uint8Array }
  /** Takes a model of somebody else, if it is one. */
  | { kind: 'model'; blob: ArrayBuffer; name: string };

export type Answer =
  | { kind: 'ready'; blob: ArrayBuffer; summary: Summary; simd: boolean }
  /** The page's own model could not be loaded. */
  | { kind: 'failed'; message: string }
  | { kind: 'digit'; names: readonly string[]; probabilities: Float32Array; likeness: number; micros: number }
  | { kind: 'model'; blob: ArrayBuffer; summary: Summary }
  /** A model that is none, or a question that has no answer. */
  | { kind: 'problem'; message: string };

/** A table to be predicted by a model. */
export interface TableQuestion {
  blob: ArrayBuffer;
  text: string;
}

/** Predictions beside their targets. */
export interface Judged {
  /** In words: how many are right, or how far off they are. */
  figures: string;
  /** Which are of another class than the target. */
  wrong: boolean[];
}

export type TableAnswer =
  | { kind: 'problem'; message: string }
  | { kind: 'progress'; doing: string; share: number }
  | {
      kind: 'table';
      predictions: string[];
      targets: string[] | undefined;
      judged: Judged | undefined;
      lines: number[];
      bytes: number;
      micros: number;
      note: string;
    };

/** What the page and its Worker say to each other. */

export type Question =
  | { kind: 'digit'; row: Uint8Array }
  | { kind: 'table'; blob: ArrayBuffer; text: string };

export type Answer =
  | { kind: 'ready'; bytes: number; features: number; outputs: number; classes: number; simd: boolean }
  /** The page's own model could not be loaded. */
  | { kind: 'failed'; message: string }
  | { kind: 'digit'; probabilities: Float32Array; micros: number }
  | {
      kind: 'table';
      task: string;
      predictions: string[];
      targets: string[] | undefined;
      lines: number[];
      bytes: number;
      micros: number;
    }
  | { kind: 'problem'; message: string };

/** A model in the runtime's memory, and the words that are shared with it. */

import { Session as Raw } from '../build/glue.js';
import { sentence } from './message.js';
import { runtime } from './runtime.js';

/** Calls, with the numbers that `wasm/src/run.rs` gives them. */
export const Call = {
  Scores: 0,
  Classify: 1,
  Probabilities: 2,
  Predict: 3,
  Values: 4,
  Features: 5,
} as const;

/** Places of the shared words, in the order of `Shared` in `wasm/src/session.rs`. */
export const Word = {
  Staged: 0,
  StagedBytes: 1,
  Results: 2,
  ResultsBytes: 3,
  Text: 4,
  TextBytes: 5,
  Kind: 6,
  Numbers: 7,
  Task: 9,
  Inputs: 10,
  Outputs: 11,
  Classes: 12,
  Features: 13,
  Bytes: 14,
  BufferBytes: 15,
  ScoreScale: 16,
  Seed: 17,
  Names: 19,
  NamesBytes: 20,
  Notes: 21,
  NotesBytes: 22,
  Length: 23,
} as const;

export class Session {
  // First of all: without a runtime this says so.
  #memory = runtime().memory;
  #raw = new Raw();
  #views: Views | undefined;

  /** @param blob a model's bytes */
  constructor(blob: Uint8Array) {
    try {
      this.give(blob);
      this.check(this.#raw.load());
    } catch (error) {
      this.#raw.free();
      throw error;
    }
  }

  /** The memory as it is now: growing it invalidates the arrays on it. */
  views(): Views {
    const views = this.#views;
    if (views && views.buffer === this.#memory.buffer) return views;
    return (this.#views = new Views(this.#memory.buffer, this.#raw.shared()));
  }

  /** Runs a call on staged rows. */
  run(call: number, rows: number, length: number): void {
    if (this.#raw.run(call, rows, length) < 0) this.check(-1);
  }

  selfTest(): void {
    this.check(this.#raw.self_test());
  }

  /** What the runtime answers to a row of JSON. */
  json(row: string): string {
    const raw: Raw & { json?(): number } = this.#raw;
    if (!raw.json) throw new Error('this runtime has no JSON: import from koan-wasm/json');
    this.give(new TextEncoder().encode(row));
    this.check(raw.json());
    return this.text(Word.Text);
  }

  text(word: number): string {
    const { buffer, words } = this.views();
    return new TextDecoder().decode(new Uint8Array(buffer, words[word], words[word + 1]));
  }

  free(): void {
    this.#raw.free();
  }

  /** Hands bytes to the next call. */
  private give(bytes: Uint8Array): void {
    const at = this.#raw.room(bytes.length);
    if (at === 0) this.check(-1);
    new Uint8Array(this.#memory.buffer, at, bytes.length).set(bytes);
  }

  /** Throws the error of a call that failed. */
  private check(status: number): void {
    if (status >= 0) return;
    const { words } = this.views();
    const [a, b] = words.subarray(Word.Numbers, Word.Numbers + 2);
    throw new Error(sentence(words[Word.Kind]!, this.text(Word.Text), [a!, b!]));
  }
}

/** Arrays on the shared memory. */
export class Views {
  readonly words: Uint32Array;
  readonly staged: Float32Array;

  constructor(
    readonly buffer: ArrayBuffer,
    shared: number,
  ) {
    this.words = new Uint32Array(buffer, shared, Word.Length);
    const words = this.words;
    this.staged = new Float32Array(buffer, words[Word.Staged], words[Word.StagedBytes]! >> 2);
  }
}

/** A model in the runtime's memory, and the words that are shared with it. */

import { call as raw, close, open } from '../build/glue.js';
import { sentence } from './message.js';
import { host, runtime } from './runtime.js';

/** Calls, with the numbers that `wasm/src/run.rs` and `session.rs` give them. */
export const Call = {
  Scores: 0,
  Classify: 1,
  Probabilities: 2,
  Predict: 3,
  Values: 4,
  Features: 5,
  SelfTest: 6,
  Load: 7,
  Room: 8,
  Json: 9,
} as const;

/** Places of the shared words, in the order of `Shared` in `wasm/src/session.rs`. */
export const Word = {
  Given: 0,
  Staged: 1,
  StagedBytes: 2,
  Results: 3,
  ResultsBytes: 4,
  Text: 5,
  TextBytes: 6,
  Kind: 7,
  Numbers: 8,
  Task: 10,
  Inputs: 11,
  Outputs: 12,
  Classes: 13,
  Features: 14,
  Bytes: 15,
  BufferBytes: 16,
  ScoreScale: 17,
  Seed: 18,
  Names: 20,
  NamesBytes: 21,
  Notes: 22,
  NotesBytes: 23,
  Length: 24,
} as const;

/** Models that nobody has freed, and nobody has any more. */
const forgotten = new FinalizationRegistry<number>(close);

export class Session {
  // First of all: without a runtime this says so.
  #memory = runtime().memory;
  #id: number;
  #views: Views | undefined;

  /** @param blob a model's bytes */
  constructor(blob: Uint8Array) {
    this.#id = open(blob.length);
    if (this.#id === 0) throw new Error(sentence(0, 0, 0, ''));
    forgotten.register(this, this.#id, this);
    try {
      this.give(Call.Load, blob);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The memory as it is now: growing it invalidates the arrays on it. */
  views(): Views {
    const views = this.#views;
    if (views && views.buffer === this.#memory.buffer) return views;
    return (this.#views = new Views(this.#memory.buffer, this.#id));
  }

  /** Carries out a call: on `argument` staged rows, or as the call has it. */
  run(call: number, argument: number): void {
    if (raw(this.#id, call, argument) === 0) return;
    const { words } = this.views();
    const [a, b] = words.subarray(Word.Numbers, Word.Numbers + 2);
    throw new Error(sentence(words[Word.Kind]!, a!, b!, this.text(Word.Text)));
  }

  /** What the runtime answers to a row of JSON. */
  json(row: string): string {
    if (!host.json) throw new Error('this runtime has no JSON: import from koan-wasm/json');
    const text = new TextEncoder().encode(row);
    this.run(Call.Room, text.length);
    this.give(Call.Json, text);
    return this.text(Word.Text);
  }

  text(word: number): string {
    const { buffer, words } = this.views();
    return new TextDecoder().decode(new Uint8Array(buffer, words[word], words[word + 1]));
  }

  free(): void {
    forgotten.unregister(this);
    close(this.#id);
  }

  /** Carries out a call on bytes. */
  private give(call: number, bytes: Uint8Array): void {
    new Uint8Array(this.#memory.buffer, this.views().words[Word.Given], bytes.length).set(bytes);
    this.run(call, bytes.length);
    // The call has made memory of its own.
    this.#views = undefined;
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

/** A model in the runtime's memory, and the words that are shared with it. */

import { sentence } from './message.js';
import { host, runtime } from './runtime.js';

/** Calls, with the numbers that `wasm/src/session.rs` gives them. */
export const Call = { Scores: 0, Features: 1, SelfTest: 2, Load: 3, Room: 4, Json: 5 } as const;

/** Places of the shared words, in the order of `Shared` in `wasm/src/session.rs`. */
export const Word = {
  Given: 0,
  Row: 1,
  Scores: 2,
  Vector: 3,
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
  Slope: 17,
  Intercept: 18,
  Seed: 19,
  Names: 21,
  NamesBytes: 22,
  Notes: 23,
  NotesBytes: 24,
  Length: 25,
} as const;

/** Models that nobody has freed, and nobody has any more. */
const forgotten = new FinalizationRegistry<() => void>((close) => close());

export class Session {
  // First of all: without a runtime this says so.
  #runtime = runtime();
  #id: number;
  #views: Views | undefined;

  /** @param blob a model's bytes */
  constructor(blob: Uint8Array) {
    const { open, close } = this.#runtime;
    const id = (this.#id = open(blob.length) >>> 0);
    if (id === 0) throw new Error(sentence(0, 0, 0, ''));
    forgotten.register(this, () => close(id), this);
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
    if (views && views.buffer === this.#runtime.memory.buffer) return views;
    return (this.#views = new Views(this.#runtime.memory.buffer, this.#id));
  }

  /** Carries out a call: on the row, or on a text of so many bytes. */
  run(call: number, bytes = 0): void {
    if (this.#runtime.call(this.#id, call, bytes) === 0) return;
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
    this.#runtime.close(this.#id);
  }

  /** Carries out a call on bytes. */
  private give(call: number, bytes: Uint8Array): void {
    new Uint8Array(this.#runtime.memory.buffer, this.views().words[Word.Given], bytes.length).set(bytes);
    this.run(call, bytes.length);
    // The call has made memory of its own.
    this.#views = undefined;
  }
}

/** Arrays on the shared memory. */
export class Views {
  readonly words: Uint32Array;
  /** The words that are floats. */
  readonly floats: Float32Array;
  readonly row: Float32Array;
  readonly scores: Int32Array;
  readonly vector: Int16Array;

  constructor(
    readonly buffer: ArrayBuffer,
    shared: number,
  ) {
    this.words = new Uint32Array(buffer, shared, Word.Length);
    this.floats = new Float32Array(buffer, shared, Word.Length);
    const at = (word: number): number => this.words[word]!;
    this.row = new Float32Array(buffer, at(Word.Row), at(Word.Inputs));
    this.scores = new Int32Array(buffer, at(Word.Scores), at(Word.Outputs));
    this.vector = new Int16Array(buffer, at(Word.Vector), at(Word.Features));
  }
}

/** A model in a runtime's memory, and what it works in. */

import {
  At, CLASSIFICATION, Section, TRAILER, viewOf, crc32, decoded, digestOf, isIntact, numbersOf, section,
} from './blob.js';
import type { Range } from './heap.js';
import { DAMAGED, Sentence, refusal, selfTestFailed, tooMuchWork } from './message.js';
import type { Info } from './model.js';
import { runtime, type Places } from './runtime.js';

/** What `load` in `wasm/src/session.rs` fills in, in its order; buffers of the small form. */
const enum Word {
  Fault = 0,
  Head = 1,
  Sections = 2,
  Block = 4,
  Wide = 6,
  Work = 7,
  Features = 9,
  CheckWord = 10,
  Length = 11,
}

/** In the place of these, if there is a fault. */
const enum Fault {
  Field = 1,
  Offset = 2,
}

/** Rows of the golden digest; the row that was written is the next number. */
const GOLDEN = 4;

/**
 * Models that nobody has freed, and nobody has any more, where the engine tells of them. Made
 * with the first model, so that a bundle without models has none of this.
 */
let forgotten: FinalizationRegistry<() => void> | undefined;

const hex = (word: number): string => `0x${word.toString(16).padStart(4, '0')}`;

const TASKS = ['features', 'regression', 'classification'] as const;

/** Arrays on the memory; `words`: what `load` has found. */
export type Views = readonly [
  scores: Int32Array,
  row: Float32Array,
  vector: Int16Array,
  blob: Uint8Array,
  words: Uint32Array,
];

export class Session {
  readonly runtime;
  /** A bound on the work of a prediction. */
  readonly work: number;
  readonly #length: number;
  /** Where the blob, the words that `load` fills in and the buffers lie. */
  readonly #ranges: Range[] = [];
  #views: Views | undefined;

  /**
   * @param bytes a model's blob
   * @param maxWork the most work of a prediction
   */
  constructor(bytes: Uint8Array, maxWork: number) {
    // First of all: without a runtime this says so.
    const { heap, load, words: sentences } = (this.runtime = runtime(bytes));
    const ranges = this.#ranges;
    this.#length = bytes.length;
    forgotten ??= globalThis.FinalizationRegistry && new FinalizationRegistry((give) => give());
    forgotten?.register(this, () => heap.give(ranges), this);
    const take = (length: number): number => {
      const range = heap.take(length);
      ranges.push(range);
      return range[0];
    };
    try {
      const given = take(bytes.length);
      const found = take(4 * Word.Length);
      const { buffer } = heap.memory;
      // From here on the copy, which nobody else changes.
      const blob = new Uint8Array(buffer, given, bytes.length);
      blob.set(bytes);
      load(given, blob.length, found, Word.Length, +isIntact(blob));
      const words = new Uint32Array(buffer, found, Word.Length);
      const at = (word: number): number => words[word]!;
      const fault = at(Word.Fault);
      if (fault) {
        const [field, offset] = [at(Fault.Field), at(Fault.Offset)];
        throw refusal(sentences, fault, field, { offset, version: blob[At.Version], tag: blob[offset] });
      }
      const work = (this.work = at(Word.Work));
      if (work > maxWork) throw new Error(tooMuchWork(work, maxWork));
      const numbers = numbersOf(blob);
      const expected = numbers.getUint16(At.CheckWord, true);
      const actual = at(Word.CheckWord);
      if (expected !== actual) {
        throw refusal(sentences, Sentence.Generator, 0, { expected: hex(expected), actual: hex(actual) });
      }
      const inputs = numbers.getUint16(At.Inputs, true);
      // Numbers of two bytes, in whole words.
      const halves = (length: number): number => (length + 1) >> 1;
      const short = halves(at(Word.Features)) + halves(inputs) + halves(at(Word.Block));
      take(4 * (2 * blob[At.Outputs]! + inputs + at(Word.Wide) + short));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The memory as it is now: growing it invalidates the arrays on it. */
  views(): Views {
    const { buffer } = this.runtime.heap.memory;
    if (this.#views?.[0].buffer === buffer) return this.#views;
    const [[given], [found], [start]] = this.#ranges as [Range, Range, Range];
    const blob = new Uint8Array(buffer, given, this.#length);
    const words = new Uint32Array(buffer, found, Word.Length);
    // In the order of `Parts` in `wasm/src/session.rs`.
    const scores = new Int32Array(buffer, start, blob[At.Outputs]);
    const rowAt = start + 8 * scores.length;
    const row = new Float32Array(buffer, rowAt, numbersOf(blob).getUint16(At.Inputs, true));
    const vector = new Int16Array(buffer, rowAt + 4 * row.length, words[Word.Features]);
    return (this.#views = [scores, row, vector, blob, words]);
  }

  /** What the model says of itself. */
  info(): Info {
    const [scores, row, vector, blob, words] = this.views();
    const numbers = numbersOf(blob);
    const outputs = scores.length;
    const task = outputs ? 1 + (blob[At.Flags]! & CLASSIFICATION) : 0;
    const names = this.#text(Section.ClassNames);
    return Object.freeze({
      task: TASKS[task]!,
      inputs: row.length,
      outputs,
      classes: task === 2 ? Math.max(outputs, 2) : 0,
      classNames: Object.freeze(names ? names.split('\n') : []),
      features: vector.length,
      bytes: blob.length,
      bufferBytes: 2 * row.length + 2 * words[Word.Block]! + 4 * words[Word.Wide]! + 8 * outputs,
      scoreScale: outputs ? numbers.getFloat32(words[Word.Head]!, true) : 1,
      seed: numbers.getBigUint64(At.Seed, true),
      notes: this.#text(Section.Notes),
    });
  }

  /** Makes the scores, or the features, of the row, or of a row of the golden digest. */
  run(features = false, row = GOLDEN): void {
    this.runtime.run(...this.places(), row, +features);
  }

  /** See `Model.selfTest`. */
  selfTest(): void {
    const [scores, row, vector, blob] = this.views();
    if (!isIntact(blob)) throw new Error(DAMAGED);
    let digest = 0;
    for (let number = 0; number < GOLDEN; number++) {
      this.run(!scores.length, number);
      digest = crc32(viewOf(scores), digest);
      if (!scores.length) digest = digestOf(blob, vector, digest);
    }
    if (digest !== numbersOf(blob).getUint32(blob.length - TRAILER, true)) {
      throw new Error(selfTestFailed('golden digest'));
    }
    const rows = this.section(Section.GoldenRows);
    for (let at = 0, number = 0; at < rows.length; number++) {
      const next = (length: number): Uint8Array => rows.subarray(at, (at += length));
      viewOf(row).set(next(row.byteLength));
      this.run();
      const expected = next(scores.byteLength);
      if (viewOf(scores).some((byte, i) => byte !== expected[i])) {
        throw new Error(selfTestFailed(`golden row ${number}`));
      }
    }
  }

  /** The bytes of a section of the blob. */
  section(tag: number): Uint8Array {
    const [, , , blob, words] = this.views();
    return section(blob, words[Word.Sections]!, tag);
  }

  #text(tag: number): string {
    return decoded(this.section(tag));
  }

  free(): void {
    forgotten?.unregister(this);
    this.runtime.heap.give(this.#ranges);
  }

  /** The arguments that all calls have: addresses and lengths. */
  places(): Places {
    const [[blob], [words], [start, end]] = this.#ranges as [Range, Range, Range];
    return [blob, this.#length, words, Word.Length, start, (end - start) / 4];
  }
}

/** A model in the runtime's memory, and what it works in. */

import { At, CLASSIFICATION, Section, TRAILER, banks, bytesOf, crc32, numbersOf, section } from './blob.js';
import type { Range } from './heap.js';
import { DAMAGED, refusal, selfTestFailed, tooMuchWork, wrongGenerator } from './message.js';
import { runtime, type Places } from './runtime.js';

/** What `load` in `wasm/src/session.rs` fills in, in its order; buffers of the small form. */
const Word = { Fault: 0, Head: 1, Sections: 2, Block: 4, Wide: 6, Work: 7, Features: 9, CheckWord: 10, Length: 11 } as const;

/** In the place of these, if there is a fault. */
const Fault = { Field: 1, Offset: 2 } as const;

/** Rows of the golden digest; the row that was written is the next number. */
const GOLDEN = 4;

/** What stands for 1 in features. */
const ONE = 127;

/**
 * Models that nobody has freed, and nobody has any more, where the engine tells of them. Made
 * with the first model, so that a bundle without models has none of this.
 */
let forgotten: FinalizationRegistry<() => void> | undefined;

export class Session {
  // First of all: without a runtime this says so.
  readonly runtime = runtime();
  readonly #length: number;
  /** Where the blob, the words that `load` fills in and the buffers lie. */
  readonly #ranges: Range[] = [];
  #views: Views | undefined;

  /**
   * @param bytes a model's blob
   * @param maxWork the most work of a prediction
   */
  constructor(bytes: Uint8Array, maxWork: number) {
    const { heap, load } = this.runtime;
    const ranges = this.#ranges;
    this.#length = bytes.length;
    if (typeof FinalizationRegistry === 'function') {
      forgotten ??= new FinalizationRegistry((give) => give());
    }
    forgotten?.register(this, () => heap.give(ranges), this);
    try {
      const [given, found] = [bytes.length, 4 * Word.Length].map((length) => {
        const range = heap.take(length);
        ranges.push(range);
        return range.start;
      }) as [number, number];
      // From here on the copy, which nobody else changes.
      const blob = new Uint8Array(heap.memory.buffer, given, bytes.length);
      blob.set(bytes);
      load(given, blob.length, found, Word.Length, Number(isIntact(blob)));
      const words = new Uint32Array(heap.memory.buffer, found, Word.Length);
      const at = (word: number): number => words[word]!;
      if (at(Word.Fault)) {
        throw new Error(refusal(blob, at(Word.Fault), at(Fault.Field), at(Fault.Offset)));
      }
      if (at(Word.Work) > maxWork) throw new Error(tooMuchWork(at(Word.Work), maxWork));
      const numbers = numbersOf(blob);
      const expected = numbers.getUint16(At.CheckWord, true);
      if (expected !== at(Word.CheckWord)) {
        throw new Error(wrongGenerator(expected, at(Word.CheckWord)));
      }
      const inputs = numbers.getUint16(At.Inputs, true);
      const sums = 2 * blob[At.Outputs]!;
      const halves = [at(Word.Features), inputs, at(Word.Block)].map((length) => Math.ceil(length / 2));
      const total = halves.reduce((sum, words) => sum + words, sums + inputs + at(Word.Wide));
      ranges.push(heap.take(4 * total));
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The memory as it is now: growing it invalidates the arrays on it. */
  views(): Views {
    const { buffer } = this.runtime.heap.memory;
    if (this.#views?.buffer === buffer) return this.#views;
    return (this.#views = new Views(buffer, this.#ranges, this.#length));
  }

  /** Makes the scores, or the features, of the row, or of a row of the golden digest. */
  run(features = false, row = GOLDEN): void {
    this.runtime.run(...this.places(), row, Number(features));
  }

  /** See `Model.selfTest`. */
  selfTest(): void {
    const { blob, words, row, scores, vector } = this.views();
    if (!isIntact(blob)) throw new Error(DAMAGED);
    let digest = 0;
    for (let number = 0; number < GOLDEN; number++) {
      this.run(scores.length === 0, number);
      digest = crc32(bytesOf(scores), digest);
      if (scores.length === 0) digest = digestOf(blob, vector, digest);
    }
    if (digest !== numbersOf(blob).getUint32(blob.length - TRAILER, true)) {
      throw new Error(selfTestFailed('golden digest 0'));
    }
    const rows = section(blob, words[Word.Sections]!, Section.GoldenRows);
    for (let at = 0, number = 0; at < rows.length; number++) {
      const next = (length: number): Uint8Array => rows.subarray(at, (at += length));
      bytesOf(row).set(next(row.byteLength));
      this.run();
      const expected = next(scores.byteLength);
      if (bytesOf(scores).some((byte, i) => byte !== expected[i])) {
        throw new Error(selfTestFailed(`golden row ${number}`));
      }
    }
  }

  /** The bytes of a section of the blob. */
  section(tag: number): Uint8Array {
    const { blob, words } = this.views();
    return section(blob, words[Word.Sections]!, tag);
  }

  text(tag: number): string {
    return decoded(this.section(tag));
  }

  free(): void {
    forgotten?.unregister(this);
    this.runtime.heap.give(this.#ranges);
  }

  /** The arguments that all calls have: addresses and lengths. */
  places(): Places {
    const [blob, words, buffers] = this.#ranges as [Range, Range, Range];
    const { start, end } = buffers;
    return [blob.start, this.#length, words.start, Word.Length, start, (end - start) / 4];
  }
}

export const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Whether a blob's checksum holds. */
function isIntact(blob: Uint8Array): boolean {
  const end = blob.length - 4;
  return end >= 0 && crc32(blob.subarray(0, end)) === numbersOf(blob).getUint32(end, true);
}

/** The golden digest's CRC-32 of features: of bins and ferns, the column of each. */
function digestOf(blob: Uint8Array, vector: Int16Array, digest: number): number {
  let at = 0;
  for (const { features, slots } of banks(blob)) {
    const end = at + features * (slots || 1);
    const bank = vector.subarray(at, end);
    if (slots) {
      for (let grid = 0; grid < bank.length; grid += slots) {
        digest = crc32(bytesOf(Uint32Array.of(bank.indexOf(ONE, grid))), digest);
      }
    } else {
      digest = crc32(bytesOf(bank), digest);
    }
    at = end;
  }
  return digest;
}

/** Arrays on the memory. */
export class Views {
  readonly blob: Uint8Array;
  /** What `load` has found. */
  readonly words: Uint32Array;
  readonly row: Float32Array;
  readonly scores: Int32Array;
  readonly vector: Int16Array;

  constructor(
    readonly buffer: ArrayBuffer,
    ranges: readonly Range[],
    length: number,
  ) {
    const [given, found, buffers] = ranges as [Range, Range, Range];
    this.blob = new Uint8Array(buffer, given.start, length);
    this.words = new Uint32Array(buffer, found.start, Word.Length);
    const inputs = numbersOf(this.blob).getUint16(At.Inputs, true);
    // In the order of `Parts` in `wasm/src/session.rs`.
    let at = buffers.start;
    this.scores = new Int32Array(buffer, at, this.blob[At.Outputs]);
    at += 8 * this.scores.length;
    this.row = new Float32Array(buffer, at, inputs);
    at += 4 * inputs;
    this.vector = new Int16Array(buffer, at, this.words[Word.Features]);
  }

  /** Real value of a score of 1. */
  get scoreScale(): number {
    return this.scores.length ? numbersOf(this.blob).getFloat32(this.words[Word.Head]!, true) : 1;
  }

  /** A bound on the work of a prediction. */
  get work(): number {
    return this.words[Word.Work]!;
  }

  /** Bytes of the buffers of a prediction. */
  get bufferBytes(): number {
    const { words, row, scores } = this;
    return 2 * row.length + 2 * words[Word.Block]! + 4 * words[Word.Wide]! + 8 * scores.length;
  }

  /** 0: features, 1: regression, 2: classification. */
  get task(): number {
    const classification = this.blob[At.Flags]! & CLASSIFICATION;
    return this.scores.length ? 1 + classification : 0;
  }
}

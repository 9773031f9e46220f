/** Who has which part of the runtime's memory: the runtime itself allocates nothing. */

/** A part of the memory, in bytes. */
export type Range = readonly [start: number, end: number];

const PAGE = 65_536;

/** The memory behind what the runtime starts with: ranges in it, in order. */
export class Heap {
  readonly memory: WebAssembly.Memory;
  #first: number;
  #taken: Range[] = [];

  constructor(memory: WebAssembly.Memory) {
    this.memory = memory;
    this.#first = memory.buffer.byteLength;
  }

  /** The first gap of so many bytes, whole words; the memory grows if there is none. */
  take(bytes: number): Range {
    let start = this.#first;
    let place = 0;
    for (const [next, end] of this.#taken) {
      if (next - start >= bytes) break;
      start = end;
      place++;
    }
    const end = start + 8 * Math.ceil(bytes / 8);
    const missing = end - this.memory.buffer.byteLength;
    try {
      if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    } catch {
      throw new Error('out of memory');
    }
    const range = [start, end] as const;
    this.#taken.splice(place, 0, range);
    return range;
  }

  /** Gives ranges back. */
  give(ranges: readonly Range[]): void {
    this.#taken = this.#taken.filter((range) => !ranges.includes(range));
  }
}

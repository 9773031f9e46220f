/** The WebAssembly runtime: found, compiled and started once. */

import type { InitOutput } from '../build/glue.js';
import { answered } from './engine.js';
import { Heap } from './heap.js';
import { host } from './host/page.js';

/** Where bytes may come from. */
export type Bytes = BufferSource | URL | string | Response | Blob;

/** Bytes in a buffer of their own, whether or not `Uint8Array` has a parameter for it. */
export type OwnBytes = ReturnType<Uint8Array['slice']>;

/** Where a runtime, or a model, may come from. */
export type Source = Bytes | WebAssembly.Module;

/**
 * Addresses and lengths of the blob, of what `load` has found, and of the buffers.
 *
 * @internal
 */
export type Places = [number, number, number, number, number, number];

/**
 * What `wasm/src` exports: only numbers cross, so there is no glue.
 *
 * @internal
 */
export interface Running {
  readonly heap: Heap;
  load(blob: number, bytes: number, words: number, length: number, intact: number): void;
  run(...numbers: [...Places, row: number, features: number]): void;
  /** Only in the build for JSON. */
  json?(...numbers: [...Places, room: number, words: number, most: number, bytes: number]): number;
}

let started: Promise<Running> | undefined;
let running: Running | undefined;

/**
 * Starts the runtime, once: later calls wait for the first. `Model.load` calls
 * it, so only who brings the wasm along, or wants it early, has to.
 *
 * @param source the runtime, if not the package's own: bytes, an address, a
 * response or a compiled module
 */
export async function init(source?: Source | PromiseLike<Source>): Promise<void> {
  const mine = (started ??= start(source));
  try {
    await mine;
  } catch (error) {
    // Whoever comes next may have more luck.
    if (started === mine) started = undefined;
    throw error;
  }
}

async function start(source?: Source | PromiseLike<Source>): Promise<Running> {
  const module = await compile(await (source ?? host.runtime()));
  const { exports } = await WebAssembly.instantiate(module);
  const { memory, ...calls } = exports as unknown as InitOutput;
  return (running = { heap: new Heap(memory), ...calls });
}

/**
 * The module that a source is; to the types every object is one.
 *
 * @internal
 */
export const moduleOf = (source: Source): WebAssembly.Module | undefined =>
  source instanceof WebAssembly.Module ? source : undefined;

async function compile(given: Source): Promise<WebAssembly.Module> {
  const module = moduleOf(given);
  if (module) return module;
  const source = given as Bytes;
  if (isResponse(source) && answered(source).headers.get('content-type') === 'application/wasm') {
    return WebAssembly.compileStreaming(source);
  }
  return source instanceof URL || typeof source === 'string'
    ? compile(await host.open(source))
    : WebAssembly.compile(await bytesOf(source));
}

/**
 * The bytes of a source that is not a module.
 *
 * @internal
 */
export async function bytesOf(source: Bytes): Promise<OwnBytes> {
  if (source instanceof URL || typeof source === 'string') {
    return bytesOf(await host.open(source));
  }
  if (isResponse(source)) answered(source);
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  }
  if ((source as Partial<Blob> | undefined)?.arrayBuffer) {
    return new Uint8Array(await (source as Blob).arrayBuffer());
  }
  try {
    return new Uint8Array((source as ArrayBuffer).slice(0));
  } catch {
    throw new TypeError('a model is loaded from bytes, a URL, a Response, a Blob or a WebAssembly.Module');
  }
}

const isResponse = (source: unknown): source is Response =>
  typeof Response === 'function' && source instanceof Response;

/**
 * The running runtime's exports.
 *
 * @internal
 */
export function runtime(): Running {
  if (!running) throw new Error('the runtime is not started: await init() first');
  return running;
}

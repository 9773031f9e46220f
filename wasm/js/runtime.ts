/** The WebAssembly runtime: found, compiled and started once. */

import type { InitOutput } from '../build/glue.js';
import { decoded, familiesOf, isIntact, viewOf } from './blob.js';
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
  /** The families that it runs, a bit for each by its code. */
  readonly families: number;
  /** Sentences of errors, in a build for all. */
  readonly words: string | undefined;
  load(blob: number, bytes: number, words: number, length: number, intact: number): void;
  run(...numbers: [...Places, row: number, features: number]): void;
  /** Only in the build for JSON. */
  json?(...numbers: [...Places, room: number, words: number, most: number, bytes: number]): number;
}

/** What has been started, or is starting: by the address of a part, that of `init` by none. */
const starts = new Map<string, Promise<void>>();

/** What runs, that of `init` in front. */
const running: Running[] = [];

/**
 * Starts the runtime for all models, once: later calls wait for the first. `Model.load` starts
 * what its model needs, so only who brings the wasm along, wants it early, or calls `Model.from`
 * has to.
 *
 * @param source the runtime, if not the package's own: bytes, an address, a
 * response or a compiled module
 */
export const init = (source?: Source | PromiseLike<Source>): Promise<void> => once('', source);

/**
 * Starts what runs a model, in a page the smallest that does: if nobody has called `init`.
 *
 * @internal
 */
export function ready(blob: Uint8Array): Promise<void> {
  const part = starts.has('') ? undefined : host.part?.(familiesOf(blob));
  return once(part?.href ?? '', part);
}

function once(name: string, source?: Source | PromiseLike<Source>): Promise<void> {
  let mine = starts.get(name);
  if (!mine) {
    mine = start(name, source).catch((error: unknown) => {
      // Whoever comes next may have more luck.
      starts.delete(name);
      throw error;
    });
    starts.set(name, mine);
  }
  return mine;
}

async function start(name: string, source?: Source | PromiseLike<Source>): Promise<void> {
  const module = await compile(await (source ?? host.runtime()));
  const { exports } = await WebAssembly.instantiate(module);
  const { memory, families, ...calls } = exports as unknown as InitOutput;
  const [words] = WebAssembly.Module.customSections(module, 'words');
  const one = { heap: new Heap(memory), families: families(), words: words && decoded(words), ...calls };
  if (name) running.push(one);
  else running.unshift(one);
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
  const source = await opened(given as Bytes);
  try {
    return await (isResponse(source) && source.headers.get('content-type') === 'application/wasm'
      ? WebAssembly.compileStreaming(source)
      : WebAssembly.compile(await bytesOf(source)));
  } catch (error: any) {
    // A server may answer with a page.
    const { url } = source as Partial<Response>;
    if (url) error.message = `${url}: ${error.message}`;
    throw error;
  }
}

/** What an address is of; any other source itself. A response must be OK. */
async function opened(given: Bytes): Promise<Exclude<Bytes, URL | string>> {
  const source = given instanceof URL || typeof given === 'string' ? await host.open(given) : given;
  if (isResponse(source) && !source.ok) throw new Error(`HTTP status ${source.status} for ${source.url}`);
  return source;
}

/**
 * The bytes of a source that is not a module.
 *
 * @internal
 */
export async function bytesOf(given: Bytes): Promise<OwnBytes> {
  const source = await opened(given);
  return bytesIn((source as Partial<Blob> | undefined)?.arrayBuffer ? await (source as Blob).arrayBuffer() : source);
}

/**
 * The bytes of a buffer, or of a view of one.
 *
 * @internal
 */
export function bytesIn(source: unknown): OwnBytes {
  try {
    return viewOf(ArrayBuffer.isView(source) ? source : new DataView(source as ArrayBuffer)) as OwnBytes;
  } catch {
    throw new TypeError('a model is loaded from bytes, a URL, a Response, a Blob or a WebAssembly.Module');
  }
}

const isResponse = (source: unknown): source is Response =>
  typeof Response === 'function' && source instanceof Response;

/**
 * A running runtime that runs a model.
 *
 * @internal
 */
export function runtime(blob: Uint8Array): Running {
  if (!running[0]) throw new Error('the runtime is not started: await init() first');
  const families = familiesOf(blob);
  const found = running.find((one) => !(families & ~one.families));
  if (found) return found;
  // What a damaged one needs is not known: any runtime refuses it.
  if (!isIntact(blob)) return running[0];
  throw new Error('the runtime lacks families of the model: await init(), or take koan.wasm');
}

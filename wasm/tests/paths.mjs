// Where things are, and what several tests read.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
export const file = join;

/** A project that has installed the packed package; made by `consumer.mjs`. */
export const consumer = file(root, 'target/wasm-consumer');
export const installed = file(consumer, 'node_modules/koan-wasm/dist');

/** What learns as a device does: `tests/learned`. */
export const learned = file(root, 'target/wasm-train/wasm32-unknown-unknown/wasm-train/examples/koan_learned.wasm');

/** What the host computes: written by `cargo run -p koan-tests --bin host`. */
export const host = () => JSON.parse(readFileSync(file(root, 'target/wasm-host.json'), 'utf8'));

/** Every golden model with its rows. */
export function golden() {
  const folder = file(root, 'tests/golden');
  const names = readdirSync(folder).filter((name) => name.endsWith('.koan'));
  if (names.length === 0) throw new Error(`${folder}: no golden models`);
  return names.map((name) => ({
    name,
    blob: readFileSync(file(folder, name)),
    rows: JSON.parse(readFileSync(file(folder, name.replace('.koan', '.json')), 'utf8')).rows,
  }));
}

/** The demo page without the module that trains, for the tests of all else. */
export const pageFolder = file(root, 'target/page-without-training');

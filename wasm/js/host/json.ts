/** A page or a Worker, with the runtime that answers JSON. */

import { fetched } from '../engine.js';
import { answer } from '../json-text.js';
import type { Host } from './host.js';

export const host: Host = {
  runtime: () => new URL('./koan-json.wasm', import.meta.url),
  open: fetched,
  answer,
};

/** Cloudflare's Workers, with the runtime that answers JSON. */

import wasm from './koan-json.wasm';
import { fetched } from '../engine.js';
import { answer } from '../json-text.js';
import type { Host } from './host.js';

export const host: Host = { runtime: () => wasm, open: fetched, answer };

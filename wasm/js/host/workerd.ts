/** Cloudflare's Workers: they compile wasm when they are deployed, and import the module. */

import wasm from './koan-simd.wasm';
import { fetched } from '../engine.js';
import type { Host } from './host.js';

export const host: Host = { runtime: () => wasm, open: fetched };

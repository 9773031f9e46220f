/** Node, with the runtime that answers JSON. */

import { readFile } from 'node:fs/promises';
import { answer } from '../json-text.js';
import type { Host } from './host.js';
import { host as node } from './node.js';

export const host: Host = {
  runtime: () => readFile(new URL('./koan-json.wasm', import.meta.url)),
  open: node.open,
  answer,
};

/**
 * Koan models in node, with rows and results as JSON text too.
 *
 * @module
 */

import { readFile } from 'node:fs/promises';
import './node.js';
import { host } from './runtime.js';

host.runtime = () => readFile(new URL('./koan-json.wasm', import.meta.url));
host.json = true;

export * from './slim.js';

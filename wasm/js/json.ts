/**
 * As the package's main entry, with rows and results as JSON text too
 * ({@link Model.json}), and therefore a larger runtime.
 *
 * @module
 */

import { host } from './runtime.js';

host.runtime = () => new URL('./koan-json.wasm', import.meta.url);
host.json = true;

export * from './slim.js';

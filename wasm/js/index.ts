/**
 * Koan models in pages, Workers and node. The wasm is found by `host/`, in its own way for each
 * entry of the package.
 *
 * @module
 */

export { hasSimd } from './engine.js';
export { embed } from './embed.js';
export { Model, type Info, type Options } from './model.js';
export type { ColumnMap, Field, Fields, NamedRow, Numbers, Row, Rows } from './row.js';
export { init, type Source } from './runtime.js';

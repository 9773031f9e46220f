/**
 * Koan models in node: like the page's entry, with addresses that may be files.
 *
 * @module
 */

import { readFile } from 'node:fs/promises';
import { fetched, hasSimd, host } from './runtime.js';

host.runtime = () =>
  readFile(new URL(hasSimd() ? './koan-simd.wasm' : './koan.wasm', import.meta.url));

host.open = async (address) => {
  const isUrl = address instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(address);
  if (!isUrl) return readFile(address);
  const url = new URL(address);
  return url.protocol === 'file:' ? readFile(url) : fetched(url);
};

export * from './slim.js';

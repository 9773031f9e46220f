/** No wasm: whoever imports this passes it to `init`. */

import { fetched } from '../engine.js';
import type { Host } from './host.js';

export const host: Host = {
  runtime() {
    throw new Error('there is no runtime: call init() with koan.wasm first');
  },
  open: fetched,
};

// The golden models, from the file that the test has written.

import { readFileSync } from 'node:fs';

export const golden = () =>
  JSON.parse(readFileSync(new URL('./golden.json', import.meta.url), 'utf8')).map((model) => ({
    ...model,
    blob: Uint8Array.from(model.blob),
  }));

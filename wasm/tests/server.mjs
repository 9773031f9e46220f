// A static server on a free port, as plain as any.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};

/**
 * Serves folders: `{ '/': 'target/page' }`. Texts are pages of their own:
 * `{ '/x.html': { text: '<!doctype html>…' } }`.
 */
export async function serve(folders) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    try {
      const [prefix, place] = Object.entries(folders)
        .filter(([start]) => path.startsWith(start))
        .reduce((a, b) => (b[0].length > a[0].length ? b : a));
      const rest = path.slice(prefix.length);
      const name = rest.endsWith('/') || path.endsWith('/') ? `${rest}index.html` : rest;
      const body = place.text ?? (await readFile(join(place, name && normalize(`/${name}`))));
      const type = TYPES[extname(place.text ? path : name || path)] ?? 'application/octet-stream';
      response.writeHead(200, { 'content-type': type }).end(body);
    } catch {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`no ${path}`);
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    }),
  };
}

/** Keeps the page's files, so that it opens without a network. */

/** Set by the build: every file of the page, and a digest of them all. */
declare const FILES: string[];
declare const VERSION: string;

/** What the types of a page do not have. */
interface ServiceEvent extends Event {
  readonly request: Request;
  waitUntil(promise: Promise<unknown>): void;
  respondWith(response: Promise<Response>): void;
}

const NAME = `koan-${VERSION}`;
const on = (name: string, run: (event: ServiceEvent) => void): void =>
  addEventListener(name, (event) => run(event as ServiceEvent));

on('install', (event) => {
  // Not what the engine keeps of an older version of the page.
  const files = FILES.map((file) => new Request(file, { cache: 'reload' }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(files)));
});

on('activate', (event) => {
  const old = caches.keys().then((names) => names.filter((name) => name !== NAME));
  event.waitUntil(old.then((names) => Promise.all(names.map((name) => caches.delete(name)))));
});

/** What trains is kept from its first use on. */
async function fetched(request: Request): Promise<Response> {
  const response = await fetch(request);
  const own = new URL('./train', location.href).href;
  if (response.ok && request.url.startsWith(own)) {
    const cache = await caches.open(NAME);
    await cache.put(request, response.clone());
  }
  return response;
}

on('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  event.respondWith(
    caches
      .match(request, { ignoreSearch: true })
      .then((kept) => kept ?? fetched(request)),
  );
});

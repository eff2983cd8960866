// The service worker of a site. Files are kept under the hashes of their content, so that the site also opens offline.
// Python puts before it FILES, the hash of each file by its path.

const worker = /** @type {any} */ (self);
const { scope } = worker.registration;

/** @param {string} path */
const keyOf = (path) => `${scope}${path}?${FILES[path]}`;

/**
 * A file, kept or fetched.
 * @param {string} path
 * @param {any} event Lives until the file is kept.
 */
async function load(path, event) {
  const cache = await caches.open(scope);
  const kept = await cache.match(keyOf(path));
  if (kept) return kept;
  const answer = await fetch(keyOf(path), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const whole = new Response(answer.body, answer); // a page may not be an answer that was redirected
  event.waitUntil(cache.put(keyOf(path), whole.clone()));
  return whole;
}

/** Files of other versions go. */
async function clean() {
  const cache = await caches.open(scope);
  const keys = new Set(Object.keys(FILES).map(keyOf));
  for (const request of await cache.keys()) if (!keys.has(request.url)) await cache.delete(request);
  await worker.clients.claim();
}

worker.addEventListener("install", (/** @type {any} */ event) => {
  const first = Object.keys(FILES).filter((path) => !path.endsWith(".weights")); // those come when they are asked for
  event.waitUntil(Promise.all(first.map((path) => load(path, event))));
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(clean()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { url, method } = event.request;
  const path = url.split(/[?#]/, 1)[0].replace(/\/$/, "/index.html").replace(scope, "");
  if (Object.hasOwn(FILES, path) && method === "GET") event.respondWith(load(path, event));
});

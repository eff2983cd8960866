// The service worker of a site. Files are kept under the hashes of their content, so that the site also opens offline.
// Python puts before it FILES, the hash of each file by its path, and LATER, the files that are kept when asked for.

const worker = /** @type {any} */ (self);
const { scope } = worker.registration;

/** @param {string} path */
const keyOf = (path) => `${scope}${path}?${FILES[path]}`;

/**
 * The path of a file of the site; undefined for all other addresses.
 * @param {string} address
 */
function pathOf(address) {
  const plain = address.split(/[?#]/, 1)[0];
  if (!plain.startsWith(scope)) return undefined;
  const path = plain.slice(scope.length).replace(/(^|\/)$/, "$1index.html");
  return Object.hasOwn(FILES, path) ? path : undefined;
}

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
  const first = Object.keys(FILES).filter((path) => !LATER.includes(path));
  event.waitUntil(Promise.all(first.map((path) => load(path, event))));
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(clean()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const path = pathOf(event.request.url);
  if (path !== undefined && event.request.method === "GET") event.respondWith(load(path, event));
});

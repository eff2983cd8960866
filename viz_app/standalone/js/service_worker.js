// The service worker of a site. Files are kept under the hashes of their content, so that they also open offline: those that
// were asked for, and the pages that a page names, such as the next on the route. A new version begins with the pages that
// the old one has. Python puts before it FILES, the SHA-256 of each file by its path. Bytes are compared with it before they are kept, since a
// host may answer with a login page, with half a file or, while a new version is copied, with an old one.

const worker = /** @type {any} */ (self);
const { scope } = worker.registration;

/** @param {string} path */
const keyOf = (path) => `${scope}${path}?${FILES[path]}`;

/**
 * A file, kept or fetched. What is not this version is handed through.
 * @param {string} path
 * @param {any} event Lives until the file is kept; fails where it is not.
 */
async function load(path, event) {
  const cache = await caches.open(scope);
  const kept = await cache.match(keyOf(path));
  if (kept) return kept;
  const answer = await fetch(keyOf(path), { cache: "no-cache" });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  const copy = new Response(answer.body, answer); // a page may not be an answer that was redirected
  event.waitUntil(keep(path, cache, answer.redirected, copy.clone()));
  return copy;
}

/**
 * Keep an answer that is the file.
 * @param {string} path
 * @param {Cache} cache
 * @param {boolean} redirected
 * @param {Response} answer
 */
async function keep(path, cache, redirected, answer) {
  const bytes = await answer.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hash = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  if (redirected || hash !== FILES[path]) throw new Error(`${path}: not the file of this version`);
  await cache.put(keyOf(path), new Response(bytes, answer));
}

/** Files of other versions go. */
async function clean() {
  const cache = await caches.open(scope);
  const keys = new Set(Object.keys(FILES).map(keyOf));
  for (const request of await cache.keys()) if (!keys.has(request.url)) await cache.delete(request);
  await worker.clients.claim();
}

/**
 * Keep pages, with the files that they name but those of models.
 * @param {string[]} pages
 */
async function keepPages(pages) {
  /** @type {Promise<any>[]} */
  const waited = [];
  const event = { waitUntil: (/** @type {Promise<any>} */ work) => waited.push(work) && work.catch(() => {}) };
  for (const page of pages) {
    if (!Object.hasOwn(FILES, page)) continue;
    for (const path of [page, ...(await named(page, event))]) {
      for (const font of path.endsWith(".css") ? await named(path, event) : []) await load(font, event);
      await load(path, event);
    }
  }
  await Promise.all(waited);
}

/**
 * The files that a page or a style names.
 * @param {string} path
 * @param {any} event As for `load`.
 */
async function named(path, event) {
  const names = new Set((await (await load(path, event)).text()).match(/[\w-]+\.\w+/g));
  return Object.keys(FILES).filter((each) => each.startsWith("assets/") && !heavy(each) && names.has(each.slice(7)));
}

const heavy = (/** @type {string} */ path) => path.endsWith(".weights"); // come when they are asked for

/** The pages that are kept, in this version or another. */
async function keptPages() {
  const keys = await (await caches.open(scope)).keys();
  return keys.map(({ url }) => url.split("?", 1)[0].replace(scope, "")).filter((path) => path.endsWith(".html"));
}

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keptPages().then(keepPages)));
worker.addEventListener("message", (/** @type {any} */ event) => {
  const { keep = Object.keys(FILES).filter((path) => path.endsWith(".html")) } = event.data;
  const work = keepPages(keep);
  event.waitUntil(work);
  const tell = (/** @type {boolean} */ kept) => event.ports[0]?.postMessage(kept);
  work.then(
    () => tell(true),
    () => tell(false),
  );
});
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(clean()));
worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { url, method } = event.request;
  const path = url.split(/[?#]/, 1)[0].replace(/\/$/, "/index.html").replace(scope, "");
  if (Object.hasOwn(FILES, path) && method === "GET") event.respondWith(load(path, event));
});

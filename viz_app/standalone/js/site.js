// Every page of a site: the start page leads to the reader's language, and a browser keeps all for the next visit.

export default function start() {
  const own = document.querySelector(`[data-choice] [lang="${navigator.language.slice(0, 2)}"]`);
  if (own instanceof HTMLAnchorElement) return location.replace(own.href);
  const { connection, serviceWorker } = /** @type {any} */ (navigator); // no service worker without TLS
  if (!connection?.saveData) serviceWorker?.register(new URL("../service-worker.js", import.meta.url));
}

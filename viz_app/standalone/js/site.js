// Every page of a site: its files are kept for the next visit, unless the reader's browser saves data.

export default function start() {
  const { serviceWorker } = navigator; // undefined where the site came without TLS
  if (!serviceWorker || /** @type {any} */ (navigator).connection?.saveData) return;
  serviceWorker.register(new URL("../service-worker.js", import.meta.url));
  serviceWorker.ready.then(() => {
    for (const note of document.querySelectorAll("[data-kept]")) note.removeAttribute("hidden");
  });
}

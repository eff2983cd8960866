// Life of a component: its one instance at each place of a page, and whether it is in sight.

/**
 * The instance of a class at its element, which then takes new data.
 * @template {{ stop: () => void }} Instance
 * @param {HTMLElement} parent What Streamlit mounts into.
 * @param {string} name Class of the element in it. The element also has the instance under this name, for tests and the console.
 * @param {(root: HTMLElement) => Instance} create
 * @returns {{ instance: Instance, unmount: () => void }}
 */
export function instanceAt(parent, name, create) {
  const root = /** @type {any} */ (parent.querySelector(`.${name}`));
  root[name] ??= create(root);
  const instance = root[name];
  const unmount = () => {
    // Streamlit also cleans up after a call that a newer one has overtaken; then the component is still on the page.
    if (root.isConnected) return;
    instance.stop();
    delete root[name];
  };
  return { instance, unmount };
}

/**
 * Calls a function when an element is scrolled out of sight, or the page is hidden; returns what ends that.
 * @param {Element} element
 * @param {() => void} hidden
 * @param {() => void} [shown] Called when the element comes into sight.
 */
export function whenHidden(element, hidden, shown = () => {}) {
  const observer = new IntersectionObserver(([entry]) => (entry.isIntersecting ? shown() : hidden()));
  observer.observe(element);
  const onVisibility = () => document.hidden && hidden();
  document.addEventListener("visibilitychange", onVisibility);
  return () => {
    observer.disconnect();
    document.removeEventListener("visibilitychange", onVisibility);
  };
}

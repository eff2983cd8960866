// Runs inside the frame, before BertViz' script, and stands in for require.js: BertViz asks it for jQuery and d3.
// The frame tells the page around it two things only: how high its drawing is, or that it failed.

(() => {
  /** @param {{ failed: boolean } | { height: number }} message */
  const tell = (message) => window.parent.postMessage(message, "*");
  const drawingHeight = () => {
    const root = document.documentElement;
    const scrollbar = root.scrollWidth > root.clientWidth ? 18 : 0;
    return Math.ceil(document.body.getBoundingClientRect().height) + scrollbar;
  };

  window.addEventListener("error", () => tell({ failed: true }));
  /**
   * @param {any} _names
   * @param {any} draw
   */
  /** @type {any} */
  const page = window;
  page.requirejs = (/** @type {string[]} */ _names, /** @type {(...libraries: any[]) => void} */ draw) => {
    draw(page.jQuery, page.d3);
    // At once, since a browser lays out a frame out of sight only on request; and after every change.
    tell({ height: drawingHeight() });
    new ResizeObserver(() => tell({ height: drawingHeight() })).observe(document.body);
  };
})();

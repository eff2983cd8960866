// Tells Python once that the reader comes near its place.

const NEAR = "50%"; // of a window
const APART = 100; // ms; of reports that come together Streamlit draws one place only

let last = Promise.resolve();

/** @param {Mounted<{}>} component */
export default function watch({ parentElement, setStateValue }) {
  const root = parentElement.getRootNode();
  // Streamlit's box around the component, which frame.css makes as large as the place.
  const place = /** @type {Element} */ (
    (root instanceof ShadowRoot ? root.host : parentElement).closest('[class*="st-key-in-sight-"]')
  );
  const observer = new IntersectionObserver(
    ([entry]) => {
      if (!entry.isIntersecting) return;
      observer.disconnect();
      last = last.then(() => {
        setStateValue("seen", true);
        return new Promise((done) => setTimeout(done, APART));
      });
    },
    // The page scrolls inside the window: a browser that knows no `scrollMargin` reports later.
    /** @type {IntersectionObserverInit} */ ({ rootMargin: NEAR, scrollMargin: NEAR }),
  );
  observer.observe(place);
  return () => observer.disconnect();
}

// Tells Python once that the reader comes near its place.

const NEAR = "50%"; // of a window
const LATER = 500; // ms: Streamlit may forget a click that comes with a report, such as one that scrolled here

/** @param {Mounted<{}>} component */
export default function watch({ parentElement, setStateValue }) {
  const root = parentElement.getRootNode();
  // Streamlit's box around the component, which frame.css makes as large as the place.
  const place = /** @type {Element} */ (
    (root instanceof ShadowRoot ? root.host : parentElement).closest('[class*="st-key-in-sight-"]')
  );
  let timer = 0;
  const observer = new IntersectionObserver(
    ([entry]) => {
      if (!entry.isIntersecting) return;
      observer.disconnect();
      timer = setTimeout(() => setStateValue("seen", true), LATER);
    },
    // The page scrolls inside the window: a browser that knows no `scrollMargin` reports later.
    /** @type {IntersectionObserverInit} */ ({ rootMargin: NEAR, scrollMargin: NEAR }),
  );
  observer.observe(place);
  return () => {
    observer.disconnect();
    clearTimeout(timer);
  };
}

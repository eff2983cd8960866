// When a component may tell Python something on its own account.
//
// A report starts a run that replaces the one before. If it comes right after a click elsewhere on the page, it replaces
// the run of that click before it has begun, and the click is lost. So a report waits until the click is well on its way.

const WELL_ON_ITS_WAY = 400; // milliseconds

let clicked = -Infinity;
/** @type {EventTarget[]} */
let path = [];

addEventListener(
  "click", // the Enter and the Space key also make one
  (event) => {
    clicked = performance.now();
    path = event.composedPath();
  },
  true,
);

/**
 * Calls `send` after some milliseconds, or later if something outside the element is clicked meanwhile.
 * @param {number} milliseconds
 * @param {Element} element
 * @param {() => void} send
 * @returns {() => void} Calls it off.
 */
export function reportAfter(milliseconds, element, send) {
  let timer = 0;
  const attempt = () => {
    const left = path.includes(element) ? 0 : clicked + WELL_ON_ITS_WAY - performance.now();
    if (left > 0) timer = setTimeout(attempt, left);
    else send();
  };
  timer = setTimeout(attempt, milliseconds);
  return () => clearTimeout(timer);
}

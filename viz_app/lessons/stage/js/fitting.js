// Makes what stands around the picture fit: the titles of the tabs, an equation, and in front of a class all words.

export const GAP = 14; // pixels between what stands below each other
const LARGEST = 21; // pixels, of the words in front of a class
const SMALLEST = 14;
const SMALLEST_EQUATION = 8; // pixels
const FADE = 28; // pixels at the end of a row that goes on

/**
 * An equation that is wider than its place becomes smaller.
 * @param {HTMLElement} equation
 */
export function fitEquation(equation) {
  equation.style.fontSize = "";
  const { clientWidth, scrollWidth } = equation;
  if (!clientWidth || scrollWidth <= clientWidth) return;
  // Whole pixels, and not always those of the proportion: the widths of letters are rounded, too.
  let size = Math.floor((Number.parseFloat(getComputedStyle(equation).fontSize) * clientWidth) / scrollWidth);
  do equation.style.fontSize = `${size}px`;
  while (equation.scrollWidth > clientWidth && --size >= SMALLEST_EQUATION);
}

/**
 * In front of a class: the largest type in which all words stand on the screen.
 * @param {HTMLElement} words
 * @param {number} room Pixels.
 */
export function fitWords(words, room) {
  let size = LARGEST;
  do words.style.fontSize = `${size}px`;
  while (words.scrollHeight > room && --size >= SMALLEST);
}

/**
 * The largest type in which all names stand in one row. Where none does, the style sheet has a second row, or on a phone
 * a row that scrolls.
 * @param {HTMLElement} tabs
 */
export function fitTabs(tabs) {
  tabs.style.fontSize = "";
  tabs.classList.remove("long");
  const tooLong = () => tabs.scrollWidth > tabs.clientWidth;
  const largest = Number.parseFloat(getComputedStyle(tabs).fontSize);
  for (let size = largest - 1; tooLong() && size >= SMALLEST; size--) tabs.style.fontSize = `${size}px`;
  tabs.classList.toggle("long", tooLong());
}

/**
 * The row fades out at an end behind which more names stand.
 * @param {HTMLElement} tabs
 */
export function fadeTabs({ style, scrollLeft, scrollWidth, clientWidth }) {
  style.setProperty("--before", scrollLeft > 1 ? `${FADE}px` : "0px");
  style.setProperty("--after", scrollLeft < scrollWidth - clientWidth - 1 ? `${FADE}px` : "0px");
}

/**
 * The largest scale at which a picture is no higher than the room: 1 at least.
 * @param {number} largest
 * @param {(zoom: number) => number} height Of the picture on the screen, in pixels, at a scale.
 * @param {number} room
 */
export function largestZoom(largest, height, room) {
  let zoom = largest;
  while (zoom > 1 && height(zoom) > room) zoom = Math.max(1, zoom - 0.05);
  return zoom;
}

/**
 * In front of a class: what the screen has below the tabs, in pixels.
 * @param {Lesson} lesson
 */
export function heightBelowTabs({ root, top }) {
  const { paddingTop, paddingBottom } = getComputedStyle(root);
  return root.clientHeight - Number.parseFloat(paddingTop) - Number.parseFloat(paddingBottom) - top.offsetHeight - GAP;
}

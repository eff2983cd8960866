// Where ring and card stand.

const AROUND = 6; // between a place and its ring, in CSS pixels
const GAP = 14; // between the ring and the card
const EDGE = 12; // between the card and the edge of the window

/**
 * The ring around an element, as far as the window shows it; the card below, above or beside it, whatever has room,
 * else at the bottom.
 * @param {Element | null} target
 * @param {HTMLElement} ring
 * @param {HTMLElement} card
 */
export function placed(target, ring, card) {
  const { innerWidth, innerHeight } = window;
  ring.hidden = !target;
  const { offsetWidth: width, offsetHeight: height } = card;
  const low = innerHeight - height - EDGE;
  if (!target) return move(card, (innerWidth - width) / 2, low);
  const box = target.getBoundingClientRect();
  const left = Math.max(2, box.left - AROUND);
  const top = Math.max(2, box.top - AROUND);
  const right = Math.min(innerWidth - 2, box.right + AROUND);
  const bottom = Math.min(innerHeight - 2, box.bottom + AROUND);
  move(ring, left, top);
  ring.style.width = `${Math.max(0, right - left)}px`;
  ring.style.height = `${Math.max(0, bottom - top)}px`;
  const across = Math.max(EDGE, Math.min(left, innerWidth - width - EDGE));
  const down = Math.max(EDGE, Math.min(top, low));
  if (bottom + GAP <= low) move(card, across, bottom + GAP);
  else if (top - GAP - height >= EDGE) move(card, across, top - GAP - height);
  else if (right + GAP + width <= innerWidth - EDGE) move(card, right + GAP, down);
  else if (left - GAP - width >= EDGE) move(card, left - GAP - width, down);
  else move(card, (innerWidth - width) / 2, low);
}

/**
 * @param {HTMLElement} element
 * @param {number} left
 * @param {number} top
 */
function move(element, left, top) {
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}

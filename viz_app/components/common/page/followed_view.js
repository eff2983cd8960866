// Follow me: the teacher's view reaches the component that shows the same picture.

const SHOWN = "headlight.followed_view"; // of the window, since every mount of a component runs this module anew

/**
 * Hand a view to the component that shows it; return whether there was one.
 * @param {any} view
 */
export function showFollowedView(view) {
  return !dispatchEvent(new CustomEvent(SHOWN, { detail: view, cancelable: true }));
}

/**
 * Calls a function with each view; it says whether it could show it. Returns what ends that.
 * @param {(view: any) => boolean} take
 */
export function onFollowedView(take) {
  /** @param {Event} event */
  const listen = (event) => {
    if (event instanceof CustomEvent && take(event.detail)) event.preventDefault();
  };
  addEventListener(SHOWN, listen);
  return () => removeEventListener(SHOWN, listen);
}

// The part that Streamlit sends again with every translation, so it is small: it hands over to the explorer's code,
// which another component brings once (main.js), sooner or later than this one is called.

const CODE = Symbol.for("headlight.explorer");

export default function mount(component) {
  let gone = false;
  let stop = null;
  const start = () => {
    if (!gone) stop = globalThis[CODE](component);
  };
  if (globalThis[CODE]) start();
  else addEventListener(CODE.description, start, { once: true });
  return () => {
    gone = true;
    stop?.();
  };
}

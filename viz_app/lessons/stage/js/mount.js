// The part that Streamlit sends again with all new numbers, so it is small: it hands over to the lesson's own code, which
// another component brings once (<lesson>/main.js), sooner or later than this one is called.

export default function mount(component) {
  const bytes = component.data;
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const { name } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const code = Symbol.for(`headlight.lesson.${name}`);
  let gone = false;
  let stop = null;
  const start = () => {
    if (!gone) stop = globalThis[code](component);
  };
  if (globalThis[code]) start();
  else addEventListener(code.description, start, { once: true });
  return () => {
    gone = true;
    stop?.();
  };
}

// The part of a lesson that Streamlit mounts while a scene follows something at the server: it hands each message over to
// the stage, together with a way to tell Python of a button, which only runs the fragment around this component.

/** @param {Mounted<Uint8Array>} component */
export default function mount({ data, setTriggerValue }) {
  /** @param {{ name: string, id: number }} press */
  const send = (press) => setTriggerValue("button", press);
  dispatchEvent(new CustomEvent("headlight.lesson.message", { detail: { bytes: data, send } }));
}

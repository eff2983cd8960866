// The part of a lesson that Streamlit mounts while a scene follows something at the server: it hands the news over to
// the stage, together with a way to tell Python of a button, which only runs the fragment around this component.

/** @param {{ data: any, setTriggerValue: any }} given */
export default function mount({ data, setTriggerValue }) {
  /** @param {any} pressed */
  const tell = (pressed) => setTriggerValue("pressed", pressed);
  dispatchEvent(new CustomEvent("headlight.lesson.news", { detail: { bytes: data, tell } }));
}

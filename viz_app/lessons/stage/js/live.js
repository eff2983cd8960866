// The part of a lesson that Streamlit mounts while a scene follows something at the server: it hands the news over to
// the stage, together with a way to tell Python of a button, which only runs the fragment around this component.

export default function mount({ data, setTriggerValue }) {
  const tell = (pressed) => setTriggerValue("pressed", pressed);
  dispatchEvent(new CustomEvent("headlight.lesson.news", { detail: { bytes: data, tell } }));
}

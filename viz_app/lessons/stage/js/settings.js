// The settings of a scene: where they start, and which of an address it takes over.

/** @param {Pick<Scene, "controls" | "kept" | "playhead">} scene */
export function startSettings({ controls, kept, playhead }) {
  /** @type {{ name: string, kind?: string, start?: unknown, min?: number }[]} */
  const all = [...controls.filter(({ read }) => !read), ...kept, ...(playhead ? [playhead] : [])];
  return Object.fromEntries(
    all.filter(({ kind }) => kind !== "button").map(({ name, start, min }) => [name, start ?? min]),
  );
}

/**
 * Keep the known settings of an address, within their bounds.
 * @param {Pick<Scene, "controls" | "kept" | "playhead">} scene
 * @param {Settings} settings
 * @returns {Settings}
 */
export function validSettings({ controls, kept, playhead }, settings) {
  /** @type {Control[]} */
  const all = [...controls.filter(({ read }) => !read), ...kept.map((each) => ({ ...each, kind: "held" }))];
  if (playhead) all.push({ ...playhead, kind: "range" });
  const values = all.map((control) => [control.name, validValue(control, settings[control.name])]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/**
 * A value as a control takes it; undefined when it does not.
 * @param {Control} control
 * @param {unknown} value
 */
function validValue({ kind, min, max, start, options }, value) {
  if (kind === "range") return typeof value === "number" ? Math.min(Math.max(value, min), max) : undefined;
  if (kind === "choice")
    return options.find((/** @type {[string, string]} */ [option]) => option === String(value))?.[0];
  const type = kind === "switch" ? "boolean" : kind === "held" || kind === "text" ? typeof start : null;
  return typeof value === type ? value : undefined;
}

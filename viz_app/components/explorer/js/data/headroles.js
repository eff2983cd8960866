// What Python knows of the heads of a model: their roles, filters by them, and the measures of its head atlas.

export class HeadRoles {
  /** @param {Roles | null} roles See explorer_view/findings.py; null before they are there. */
  constructor(roles) {
    this.source = roles;
    this.filters = roles?.filters ?? [];
    /** @type {Record<string, import("./measures.js").Measure & HeadMeasure>} */
    this.measures = Object.fromEntries((roles?.measures ?? []).map((each) => [each.name, measureOf(each)]));
  }

  /**
   * Whether a head passes a filter; every head passes one that this model does not have.
   * @param {string | null} only
   * @param {Kind} kind
   * @param {number} index
   */
  passes(only, kind, index) {
    const labels = this.source?.labels[kind]?.[index];
    return !labels || !this.filters.some(({ label }) => label === only) || labels.includes(only ?? "");
  }

  /**
   * The role of a head in words; empty where nothing is known of it.
   * @param {Kind} kind
   * @param {number} layer
   * @param {number} head
   */
  words(kind, layer, head) {
    const role = this.source?.heads[kind]?.[layer]?.[head];
    if (!role) return "";
    if ("words" in role) return role.words;
    const name = role.standing === "named" ? role.role : "none";
    return this.filters.find(({ label }) => label === name)?.words ?? "";
  }
}

/**
 * @param {HeadMeasure} measure
 * @returns {import("./measures.js").Measure & HeadMeasure}
 */
function measureOf(measure) {
  const { kinds } = measure;
  const of = (/** @type {Measures} */ _, /** @type {Kind} */ kind) =>
    kinds[kind] ? Float64Array.from(kinds[kind].value, (value) => value ?? NaN) : null;
  return { ...measure, exists: (_, kind) => Boolean(kinds[kind]), of };
}

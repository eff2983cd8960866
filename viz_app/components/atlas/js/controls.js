// What is shown and which heads: measure, view, filters.

import { KINDS } from "../../common/heads/heads.js";
import { h, setAttribute } from "../../common/page/dom.js";

export class Controls {
  /** @param {(change: Partial<AtlasState>) => void} set */
  constructor(set) {
    this.set = set;
    this.measure = h("select", { change: () => set({ by: this.measure.value }) });
    this.kind = h("select", { change: () => set({ kind: this.kind.value }) });
    this.role = h("select", { change: () => set({ role: this.role.value }) });
    this.significant = h("input", { type: "checkbox", change: () => set({ significant: this.significant.checked }) });
    this.views = /** @type {AtlasState["view"][]} */ (["grid", "list"]).map((view) => {
      return h("button", { class: "view", "data-view": view, click: () => set({ view }) });
    });
    this.names = { measure: h("span"), kind: h("span"), role: h("span"), significant: h("span") };
    this.only = h("label", { class: "only" }, this.significant, this.names.significant);
    this.group = h("div", { class: "views", role: "group" }, ...this.views);
    this.element = h(
      "div",
      { class: "controls" },
      h("label", {}, this.names.measure, this.measure),
      this.group,
      h("label", {}, this.names.kind, this.kind),
      h("label", {}, this.names.role, this.role),
      this.only,
    );
  }

  /** @param {AtlasData} data */
  build(data) {
    const { texts, header } = data;
    this.names.measure.textContent = texts.measure;
    this.names.kind.textContent = texts.kind;
    this.names.role.textContent = texts.role;
    this.names.significant.textContent = texts.significant;
    setAttribute(this.group, "aria-label", texts.view);
    for (const button of this.views) button.textContent = texts[`view_${button.dataset.view}`];
    this.measure.replaceChildren(...header.measures.map(({ name, label }) => h("option", { value: name }, label)));
    this.kind.replaceChildren(
      h("option", { value: "" }, texts.all_kinds),
      ...KINDS.map((kind) => h("option", { value: kind }, texts[`kind_${kind}`])),
    );
    const { rules, relations } = data.roleOptions();
    /** @type {(label: string, roles: AtlasRole[]) => HTMLElement | null} */
    const group = (label, roles) =>
      roles.length
        ? h("optgroup", { label }, ...roles.map((role) => h("option", { value: role.label }, role.words)))
        : null;
    this.role.replaceChildren(
      h("option", { value: "" }, texts.all_roles),
      h("option", { value: "none" }, texts.no_role),
      ...[group(texts.roles, rules), group(texts.relations, relations)].flatMap((each) => each ?? []),
    );
    this.only.hidden = !header.significant;
  }

  /** @param {AtlasState} state */
  update(state) {
    this.measure.value = state.by;
    this.kind.value = state.kind;
    this.role.value = state.role;
    this.significant.checked = state.significant;
    for (const button of this.views) setAttribute(button, "aria-pressed", String(button.dataset.view === state.view));
  }
}

// The keys of a lesson: Space plays, arrows step, Up and Down in the picture choose, PageUp and PageDown change the scene as clickers do, Enter reveals.

const OWN_ARROWS = "input[type=radio], .range:not(.playhead) input, [role=region]"; // the arrows move what has the focus
const TYPING = "input:not([type=radio]):not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]";

export class Keys {
  /** @param {Lesson} lesson */
  constructor(lesson) {
    this.lesson = lesson;
    /** @param {KeyboardEvent} event */
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
  }

  /**
   * Never while the reader types, and only for this lesson or where nothing is focused.
   * @param {KeyboardEvent} event
   */
  key(event) {
    const { lesson } = this;
    const target = event.composedPath()[0];
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !lesson.lesson) return;
    if (event.key === "Tab") lesson.stage.canvas.classList.remove("given");
    if (target instanceof Element && target.closest(TYPING)) return;
    const inside = event.composedPath().includes(lesson.root) || target === document.body || lesson.presenting;
    if (!inside) return;
    const pressable = target instanceof Element && target.closest("button, a, summary, input");
    if (this.act(event.key, target, pressable)) event.preventDefault();
  }

  /**
   * Says whether the key meant something.
   * @param {string} key
   * @param {EventTarget} target
   * @param {Element | false | null} pressable
   */
  act(key, target, pressable) {
    const { lesson } = this;
    const arrow = /** @type {Record<string, number | undefined>} */ ({ ArrowRight: 1, ArrowLeft: -1 })[key];
    const page = /** @type {Record<string, number | undefined>} */ ({ PageDown: 1, PageUp: -1 })[key];
    const line = /** @type {Record<string, number | undefined>} */ ({ ArrowDown: 1, ArrowUp: -1 })[key];
    if (page) lesson.turn(page);
    else if (key === "Escape" && lesson.presenting) lesson.present(false);
    else if (key === "q" && lesson.presenting) lesson.tools.showCode();
    else if (lesson.tabs.buttons.includes(/** @type {HTMLButtonElement} */ (target))) return this.moveTab(arrow);
    else if (arrow ? target instanceof Element && target.closest(OWN_ARROWS) : pressable) return false;
    else if (key === " ") lesson.stage.toggle();
    else if (key === "Enter" && lesson.question) lesson.question.reveal();
    else if (arrow && lesson.scene.playhead) {
      lesson.stage.pause();
      lesson.stage.step(arrow);
    } else if (lesson.scene.missing(lesson.settings()) !== null) return false;
    else if (arrow) {
      const patch = lesson.scene.stepped(arrow, lesson.settings());
      if (!patch) return false;
      lesson.set(patch);
    } else if (line && target === lesson.stage.canvas) {
      const patch = lesson.scene.lowered(line, lesson.settings());
      if (!patch) return false;
      lesson.set(patch);
    } else return false;
    return true;
  }

  /** @param {number} [arrow] */
  moveTab(arrow) {
    const next = arrow && this.lesson.lesson.scenes[this.lesson.index + arrow];
    if (!next) return false;
    this.lesson.go(next.name);
    this.lesson.tabs.buttons[this.lesson.index].focus();
    return true;
  }

  stop() {
    document.removeEventListener("keydown", this.onKey);
  }
}

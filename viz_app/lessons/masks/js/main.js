// The code of the lesson "Masked against unmasked".

import { registerScenes } from "../../stage/js/provide.js";
import { Compare } from "./compare.js";
import { Guess } from "./guess.js";
import { Leak } from "./leak.js";
import { Padding } from "./padding.js";
import { Rows } from "./rows.js";

export default function register() {
  registerScenes("masks", { rows: Rows, compare: Compare, padding: Padding, leak: Leak, predict: Guess });
}

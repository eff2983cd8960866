// The code of the lesson "Masked against unmasked".

import { registerScenes } from "../../stage/js/provide.js";
import { Exam } from "./exam.js";
import { Guess } from "./guess.js";
import { Padding } from "./padding.js";
import { Rows } from "./rows.js";

export default function register() {
  registerScenes("masks", { rows: Rows, padding: Padding, exam: Exam, predict: Guess });
}

// The code of the lesson "Results and variations".

import { provide } from "../../stage/js/provide.js";
import { Attachment } from "./attachment.js";
import { Cost } from "./cost.js";
import { Parsing } from "./parsing.js";
import { Heads } from "./quiz.js";
import { Scores } from "./scores.js";
import { Variations } from "./variations.js";

export default function bring() {
  const scenes = { scores: Scores, variations: Variations, cost: Cost, parsing: Parsing };
  provide("results", { ...scenes, attachment: Attachment, predict: Heads });
}

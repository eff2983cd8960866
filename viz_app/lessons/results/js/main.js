// The code of the lesson "Results and variations".

import { provide } from "../../stage/js/provide.js";
import { Attachment } from "./attachment.js";
import { Cost } from "./cost.js";
import { Parsing } from "./parsing.js";
import { Heads } from "./quiz.js";
import { Scores } from "./scores.js";
import { Variations } from "./variations.js";

export default function bring() {
  provide("results", {
    scores: Scores,
    variations: Variations,
    cost: Cost,
    parsing: Parsing,
    attachment: Attachment,
    predict: Heads,
  });
}

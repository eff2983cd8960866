// The code of the lesson "Results and variations".

import { chartScene } from "../../stage/js/chartscene.js";
import { registerScenes } from "../../stage/js/provide.js";
import { Attachment } from "./attachment.js";
import { Heads } from "./quiz.js";
import { Scores } from "./scores.js";

export default function register() {
  registerScenes("results", {
    scores: Scores,
    variations: chartScene("variations"),
    parsing: chartScene("parsing"),
    attachment: Attachment,
    predict: Heads,
  });
}

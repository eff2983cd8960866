// The code of the lesson "Regularisation".

import { chartScene } from "../../stage/js/chartscene.js";
import { registerScenes } from "../../stage/js/provide.js";
import { Dropout } from "./dropout.js";
import { Predict } from "./predict.js";
import { Targets } from "./targets.js";

export default function register() {
  registerScenes("regularisation", {
    targets: Targets,
    scores: chartScene("scores"),
    dropout: Dropout,
    predict: Predict,
  });
}

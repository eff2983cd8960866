// The code of the lesson "Regularisation".

import { provide } from "../../stage/js/provide.js";
import { Dropout } from "./dropout.js";
import { Loss } from "./loss.js";
import { Predict } from "./predict.js";
import { Scores } from "./scores.js";
import { Targets } from "./targets.js";

export default function bring() {
  provide("regularisation", { targets: Targets, loss: Loss, scores: Scores, dropout: Dropout, predict: Predict });
}

// The code of the lesson "Subwords and batches".

import { registerScenes } from "../../stage/js/provide.js";
import { Batches } from "./batches.js";
import { Merges } from "./merges.js";
import { Predict } from "./predict.js";

export default function register() {
  registerScenes("subwords", { merges: Merges, batches: Batches, predict: Predict });
}

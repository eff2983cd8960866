// The code of the lesson "Subwords and batches".

import { provide } from "../../stage/js/provide.js";
import { Batches } from "./batches.js";
import { Merges } from "./merges.js";
import { Predict } from "./predict.js";

export default function bring() {
  provide("subwords", { merges: Merges, batches: Batches, predict: Predict });
}

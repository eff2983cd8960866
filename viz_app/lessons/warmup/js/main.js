// The code of the lesson "Warm-up".

import { registerScenes } from "../../stage/js/provide.js";
import { Adam } from "./adam.js";
import { Predict } from "./predict.js";
import { Runs } from "./runs.js";
import { Training } from "./training.js";

export default function register() {
  registerScenes("warmup", { runs: Runs, adam: Adam, learning: Training, predict: Predict });
}

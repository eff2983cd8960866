// The code of the lesson "The whole Transformer".

import { registerScenes } from "../../stage/js/provide.js";
import { After } from "./after.js";
import { FeedForward } from "./ffn.js";
import { Flow } from "./flow.js";
import { Mistake } from "./mistake.js";
import { Predict } from "./predict.js";
import { Residual } from "./residual.js";
import { Shared } from "./shared.js";
import { Training } from "./training.js";

export default function register() {
  registerScenes("architecture", {
    flow: Flow,
    residual: Residual,
    ffn: FeedForward,
    shared: Shared,
    training: Training,
    mistake: Mistake,
    after: After,
    predict: Predict,
  });
}

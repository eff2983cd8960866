// The code of the lesson "Positional encoding".

import { registerScenes } from "../../stage/js/provide.js";
import { Clocks } from "./clocks.js";
import { Predict } from "./predict.js";
import { Swap } from "./swap.js";
import { Waves } from "./waves.js";

export default function register() {
  registerScenes("positions", {
    waves: Waves,
    clocks: Clocks,
    swap: Swap,
    predict: Predict,
  });
}

// The code of the lesson "Why self-attention".

import { registerScenes } from "../../stage/js/provide.js";
import { Costs } from "./costs.js";
import { Crossover } from "./crossover.js";
import { Path } from "./path.js";

export default function register() {
  registerScenes("why", { path: Path, costs: Costs, predict: Crossover });
}

// The code of the lesson "Why self-attention".

import { provide } from "../../stage/js/provide.js";
import { Cheaper } from "./cheaper.js";
import { Costs } from "./costs.js";
import { Crossover } from "./crossover.js";
import { Path } from "./path.js";
import { Timed } from "./timed.js";

export default function bring() {
  provide("why", { path: Path, costs: Costs, crossover: Crossover, timed: Timed, predict: Cheaper });
}

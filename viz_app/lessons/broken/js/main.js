// The code of the lesson "What is wrong with this model?".

import { provide } from "../../stage/js/provide.js";
import { Copyist } from "./copyist.js";
import { suspectScene } from "./suspect.js";

export default function bring() {
  const [a, b, c, d] = ["a", "b", "c", "d"].map(suspectScene);
  provide("broken", { a, b, c, d, predict: Copyist });
}

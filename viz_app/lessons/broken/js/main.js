// The code of the lesson "What is wrong with this model?".

import { provide } from "../../stage/js/provide.js";
import { Copyist } from "./copyist.js";
import { SuspectA, SuspectB, SuspectC, SuspectD } from "./suspects.js";

export default function bring() {
  provide("broken", { a: SuspectA, b: SuspectB, c: SuspectC, d: SuspectD, predict: Copyist });
}

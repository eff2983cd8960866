// The code of the Lab.

import { provide } from "../../stage/js/provide.js";
import { SwitchOff } from "./switchoff.js";

export default function bring() {
  provide("lab", { off: SwitchOff });
}

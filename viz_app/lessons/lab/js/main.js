// The code of the Lab.

import { provide } from "../../stage/js/provide.js";
import { Depth } from "./depth.js";
import { Early } from "./early.js";
import { Parts } from "./parts.js";
import { Redirect } from "./redirect.js";
import { Stairs } from "./stairs.js";
import { Swap } from "./swap.js";
import { SwitchOff } from "./switchoff.js";
import { Trace } from "./trace.js";
import { Why } from "./why.js";

export default function bring() {
  provide("lab", {
    off: SwitchOff,
    parts: Parts,
    stairs: Stairs,
    redirect: Redirect,
    trace: Trace,
    depth: Depth,
    early: Early,
    swap: Swap,
    why: Why,
  });
}

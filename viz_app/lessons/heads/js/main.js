// The code of the lesson "Head by head".

import { registerScenes } from "../../stage/js/provide.js";
import { Concat } from "./concat.js";
import { Looking } from "./looking.js";
import { MadeOf } from "./madeof.js";
import { OneHead } from "./onehead.js";
import { PaperHeads } from "./paperheads.js";
import { Predict } from "./predict.js";
import { Rest } from "./rest.js";
import { Tour } from "./tour.js";

export default function register() {
  registerScenes("heads", {
    tour: Tour,
    looking: Looking,
    flow: MadeOf,
    paper: PaperHeads,
    one: OneHead,
    concat: Concat,
    rest: Rest,
    predict: Predict,
  });
}

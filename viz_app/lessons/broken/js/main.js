// The code of the lesson "What is wrong with this model?".

import { registerScenes } from "../../stage/js/provide.js";
import { Copyist } from "./copyist.js";
import { suspectScene } from "./suspect.js";

export default function register() {
  registerScenes("broken", {
    a: suspectScene("a"),
    b: suspectScene("b"),
    c: suspectScene("c"),
    d: suspectScene("d"),
    predict: Copyist,
  });
}

// The code of the lesson "Scaled dot-product attention".

import { registerScenes } from "../../stage/js/provide.js";
import { Projections } from "./projections.js";
import { Real } from "./real.js";
import { Scale } from "./scale.js";
import { Steps } from "./steps.js";
import { Variance } from "./variance.js";

export default function register() {
  registerScenes("dot_product", {
    projections: Projections,
    steps: Steps,
    scale: Scale,
    real: Real,
    predict: Variance,
  });
}

// The code of the lesson "Beam search and BLEU".

import { registerScenes } from "../../stage/js/provide.js";
import { Alpha } from "./alpha.js";
import { Bleu } from "./bleu.js";
import { Predict } from "./predict.js";
import { Tree } from "./tree.js";

export default function register() {
  registerScenes("decoding", { tree: Tree, alpha: Alpha, bleu: Bleu, predict: Predict });
}

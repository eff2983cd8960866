// The explorer's code for a page that mounts it elsewhere: see mount.js.

import { provideCode } from "../../common/handover.js";
import { mount } from "./mountexplorer.js";

export default function provide() {
  provideCode("explorer", mount);
}

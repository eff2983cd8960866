// Four suspects, each with its letter.

import { Suspect } from "./suspect.js";

export class SuspectA extends Suspect {
  get name() {
    return "a";
  }
}

export class SuspectB extends Suspect {
  get name() {
    return "b";
  }
}

export class SuspectC extends Suspect {
  get name() {
    return "c";
  }
}

export class SuspectD extends Suspect {
  get name() {
    return "d";
  }
}

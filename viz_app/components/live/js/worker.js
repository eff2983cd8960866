// The worker: its messages are those of service.js.

import { LiveService } from "./service.js";

const service = new LiveService((answer, transfer) => postMessage(answer, { transfer }));
addEventListener("message", ({ data }) => service.receive(data));

// Runs the task that each line of its input names, and answers with its seconds.

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { flowData } from "../../viz_app/components/live/js/flowdata.js";
import { explorerPayload } from "../../viz_app/components/live/js/payload.js";
import { Translator } from "../../viz_app/components/live/js/translator.js";

const [checkpoint, description, text, mode] = process.argv.slice(2);
const live = JSON.parse(readFileSync(description, "utf8"));
const read = (name) => new Uint8Array(readFileSync(`${checkpoint}/${name}`));
const weights = Object.keys(live.files).filter((name) => name.endsWith(".safetensors"));
const translator = new Translator(live, weights.map(read), read("tokenizer.model"), mode === "plain");

function search(beam) {
  const found = translator.begin(translator.validate(text), { beam });
  while (!found.search.done) found.search.step();
  return found;
}

const shown = search(4);

function flow(options) {
  const steps = flowData(translator, shown, options);
  while (!steps.next().done);
}

const tasks = {
  greedy: () => search(1),
  beam: () => search(4),
  maps: () => explorerPayload(translator, shown),
  flow: () => flow({}),
  contrast: () => flow({ at: shown.search.hypotheses[0].ids.length, against: "." }),
};
for (let round = 0; round < 8; round++) for (const task of Object.values(tasks)) task(); // until it is compiled
console.log(translator.text(shown));
createInterface({ input: process.stdin }).on("line", (name) => {
  const [started, before] = [performance.now(), process.cpuUsage()];
  tasks[name]();
  const { user, system } = process.cpuUsage(before);
  console.log(JSON.stringify({ wall: (performance.now() - started) / 1e3, cpu: (user + system) / 1e6 }));
});

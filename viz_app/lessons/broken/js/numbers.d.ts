// Values of numbers.py. Pairs are of the healthy model and of the suspect.

type CurvesData = import("../../stage/js/chart.js").CurvesData;
type Charts = Record<
  "loss" | "order" | "evenness",
  import("../../stage/js/chartscene.js").ChartData & CurvesData & { said: string }
>;
export type Pair<Each> = [healthy: Each, suspect: Each];

/** Nothing but `missing` where the models are. What stands last is of the open scene: of a suspect, or of the copyist. */
export type Values = {
  missing: boolean;
  /** For which the evidence is. */
  scene: string;
  /** The sentence as far as the models read it; `cut`: not all of it. */
  read: string;
  cut: boolean;
  /** Translation of the chosen model, for comparison; "" in another language. */
  chosen: string;
  bleu: Pair<number>;
  /** The tests that are charts, with the line below each. */
  charts: Charts & Record<string, Charts["loss"]>;
  wrote: Pair<string>;

  tokens: string[];
  words: string[];
  turned: Pair<string>;

  inputs: string[];
  ahead: Pair<number>;
  greedy: Pair<string>;
};

// Values of numbers.py.

export type Values = {
  paper: { d_model: number; warmup: number };
  own: { d_model: number; warmup: number; factor: number };
  widths: number[];
  runs: { warmup: number; failed: number | null }[];
  recorded: Snapshots;
};

/** Outputs of a training for a word after some steps. */
export type Snapshots = { word: string; moments: number[]; guesses: string[] };

/** The live training; more than its state only for those who chose to see it. */
export type Live = { state: string } | ({ state: string; number: number } & Snapshots);

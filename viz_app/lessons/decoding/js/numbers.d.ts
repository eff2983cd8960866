// Values of numbers.py.

export type Values = {
  /** Without nodes where there was no search. */
  tree: BeamData | { parent?: undefined; alpha?: number };
  /** By beam size; others than the usual one only while their scene is open. */
  trees: Record<string, BeamData>;
  /** An example in which alpha decides; null where there is none, and while another scene is open. */
  decided: { text: string; tree: BeamData } | null;
  most_alpha: number;
  /** The model's translation; null where the output is a tree. */
  reference: string | null;
  /** The second hypothesis, of which BLEU is shown first. */
  other: string;
};

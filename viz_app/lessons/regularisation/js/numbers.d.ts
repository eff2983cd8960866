// Values of numbers.py.

export type Values = {
  vocabulary: number;
  vocabularies: { own: number; paper: number };
  steps: Step[];
  charts: Record<"scores", import("../../stage/js/chartscene.js").ChartSet>;
  places: string[];
  own_dropout: number;
  question: number;
};

/** A token of the translation, its probability, and the likeliest others with theirs. */
export type Step = { token: string; p: number; others: [token: string, p: number][] };

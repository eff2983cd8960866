// Values of numbers.py and head_measures.py.

export type RoleName = "previous" | "next" | "self" | "separator" | "aligner";

/** Role of a head: its share of positions, the lower bound, chance, and its standing. */
export type Role = {
  role: RoleName;
  kind: Kind;
  layer: number;
  head: number;
  share: number;
  at_least: number;
  weight: number;
  chance: number;
  places: number;
  standing: "named" | "leans" | "none";
};
export type Roles = Record<Kind, Role[][]>;

/** A small model: what its heads read and generated. */
export type SmallModel = { heads: number; bleu: number; outputs: string[]; source: string[] };

/** The head that follows a relation best, beside the baseline, for one of the paper's figures. */
export type PaperRow = {
  figure: number;
  words: string;
  relation: string;
  head: string;
  value: number;
  low: number;
  high: number;
  baseline: number;
  places: number;
  verdict: "holds" | "none" | "chance";
};

export type Values = {
  axes: Record<AxisName, string[]>;
  /** True where the maps show less than the whole sentence. */
  cut: boolean;
  roles: Roles;
  tour: Role[];
  /** Table 3, row A. */
  rows: { heads: number; d_k: number; parameters: number; flops: number; perplexity: number; bleu: number }[];
  small: { base: SmallModel; one: SmallModel } | null;
  small_read: boolean;
  /** `twins`: the heads with the most similar maps, how much weight these share, and the mean cosine of what they add. */
  parts: { kind: Kind; layer: number; error: number; twins: [number, number, number, number] | null };
  /** Tokens of the translation and words of the sentence; null while another scene is open, as `missing` says. */
  looking: { tokens: string[]; words: string[] };
  /** Tokens of a sentence and its translation; the last article, by its position, and that of another gender. */
  made: { source: string[]; outputs: string[]; article: number | null; other: string | null };
  /** A recorded training: of each snapshot the self-attention heads that rest and look; null where it is missing. */
  rest: {
    steps: number[];
    bleu: number[];
    resting: number[];
    looking: number[];
    /** The number of a head that looked and came to rest. */
    turned: number;
    /** From this share of its weight on separators on, a head rests. */
    sink_share: number;
    axes: Record<AxisName, string[]>;
  };
  /** The self-attention head that gives `<s>` or `</s>` most; of each key its column’s sum and its value’s length. */
  sink: { head: string; key: number; tokens: string[]; sums: number[]; lengths: number[] };
  rest_read: boolean;
  /** Null for a model whose relations nobody measured. */
  paper: { rows: PaperRow[]; sentences: number };
  penalty: string; // that the model was trained with one; else empty
  alone: { text: string; same: number; heads: number } | null;
};

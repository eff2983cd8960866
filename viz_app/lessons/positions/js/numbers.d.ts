// Values of numbers.py and word_order.py.

/** Ways of reading: with positions, with the positions taken away, trained without them. */
export type Group = "with" | "off" | "trained";

export type Values = {
  d_model: number;
  /** Shown, at least as many as tokens. */
  positions: number;
  tokens: string[];
  /** Translations of the sentence and of the sentence backwards; null while they are computed. */
  backwards: Record<"with" | "off", [string, string]> | null;
  /** Empty where the sentence has too few words; then what follows is not there. */
  words: string[];
  /** Places of the words that may be exchanged, and which two of them are at first. */
  plain: number[];
  start: [number, number];
  /** For each place the word that stands there after the exchange. */
  order: number[];
  groups: Group[];
  /** Head of the first layer whose scores depend most on positions, such as encoder.1.1; "" for none. */
  head: string;
  /** Positions of the learned table that training has seen; 0 where the table is missing. */
  trained: number;
};

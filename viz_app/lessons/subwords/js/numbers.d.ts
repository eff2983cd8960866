// What viz_app/lessons/subwords/numbers.py computes.

export type Values = {
  letters: string;
  /** How many merges the vocabulary has. */
  count: number;
  word: [right: string, misspelt: string];
  word_tokens: [right: string[], misspelt: string[]];
  /** Of the order of the file, and of training. */
  padding: [Padding, Padding];
};

/** Positions that hold nothing, all positions, and the number of batches. */
export type Padding = [padded: number, positions: number, batches: number];

// Values of numbers.py.

export type Values = {
  letters: string;
  /** Number of merges of the vocabulary. */
  count: number;
  word: [right: string, misspelt: string];
  word_tokens: [right: string[], misspelt: string[]];
  /** Batches in the order of the file, and of training. */
  padding: [Padding, Padding];
};

/** Positions that hold nothing, all positions, and the number of batches. */
export type Padding = [padded: number, positions: number, batches: number];

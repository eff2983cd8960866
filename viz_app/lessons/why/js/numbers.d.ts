// Values of numbers.py.

export type Values = {
  tokens: string[];
  /** Positions on either side to which attention is restricted, where a scene has no slider for it. */
  r: number;
  timed: { widths: number[]; lengths: number[] };
};

/** The measurement of layers as far as it is; points and crossings by width. */
export type Measurement = {
  state: string;
  width: number;
  total: number;
  points: Record<string, [layer: string, n: number, seconds: number][]>;
  crossings: Record<string, [low: number, high: number] | null>;
  machine: Record<string, string | number>;
};

// Values of numbers.py and forward_steps.py.

import type { Flow } from "./flow.js";

export type Side = "encoder" | "decoder";
export type Sublayer = "self_attention" | "cross_attention" | "feed_forward";
type Part = "attention" | "feed_forward" | "matrix" | "norms";
/** Part: its parameters, its multiply-adds, and its count in Figure 1. */
type Weighed = [number, number, number];

/** A place that the sentence passes; a layer counts from 0, `norm` is the mean length of its vectors. */
export type Station = {
  side: Side;
  name: "embedding" | "positions" | "add_norm" | "linear" | Sublayer;
  layer: number | null;
  sublayer: Sublayer | null;
  shape: number[];
  norm: number;
};

export type Values = {
  tokens: Record<Side, string[]>;
  outputs: string[];
  ids: Record<Side, number[]>;
  /** Positions of the whole sentences. */
  lengths: Record<Side, number>;
  model: { d_model: number; d_ff: number; num_layers: number; vocab_size: number; norm: string };
  /** Title of the lesson that a station of Figure 1 opens. */
  titles: Record<string, string>;
  stations: Station[];
  order_error: number;
  step_error: number;
  /** For each target position the likeliest tokens: token, probability, logit, id. */
  likely: [string, number, number, number][][];
  shared: {
    tied: boolean;
    /** For each source position the nearest tokens: token, cosine, id. */
    neighbours: [string, number, number][][];
    usual: number;
    row_norms: number[];
    position_norms: number[];
  };
  /** For each position the translation that goes on from the second choice; null while another scene is open. */
  mistakes: { tokens: string[]; probabilities: number[]; text: string }[] | null;
  /** Parameters of each stack's layers; the decoder's without encoder-decoder attention, `cross`. */
  halves: Record<Side | "cross", number>;
  parts: Record<string, Record<Part, Weighed>>;
};

// ---- What the scenes make of it

/** A station of the way in Figure 1; ids and softmax have no tensor, so no `index` among the stations. */
export type Stop = Omit<Station, "name" | "norm"> & {
  name: Station["name"] | "ids" | "softmax";
  norm: number | null;
  index: number | null;
};
export type Moment = ReturnType<Flow["moment"]>;
export type Places = ReturnType<typeof import("./route.js").placesOf>;

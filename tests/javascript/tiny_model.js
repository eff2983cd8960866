// The files of a tiny translator with drawn weights, as bytes.

/** A field of a Protocol Buffers message: bytes, or a number below 128. */
export const field = (number, value) =>
  typeof value === "number" ? [8 * number, value] : [8 * number + 2, ...length(value.length), ...value];
const length = (value) => (value < 128 ? [value] : [128 + (value & 127), value >> 7]);
const text = (value) => [...new TextEncoder().encode(value)];

/** A SentencePiece model; each token is its text and its kind. */
export function sentencePiece(tokens, table = [4, 0, 0, 0, 0, 0, 0, 0, 0]) {
  const pieces = tokens.map(([token, kind], index) => {
    const score = [...new Uint8Array(new Float32Array([-index]).buffer)];
    return field(1, [...field(1, text(token)), 21, ...score, ...field(3, kind)]);
  });
  return new Uint8Array([...pieces.flat(), ...field(3, field(2, table))]);
}

/** A safetensors file of a header and data. */
export function safetensors(header, data = new Uint8Array()) {
  const json = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  file.set(data, 8 + json.length);
  return file;
}

const TOKENS = [
  ...[
    ["<pad>", 3],
    ["<s>", 3],
    ["</s>", 3],
    ["<unk>", 2],
  ],
  ...["\u2581", "a", "b", "c", "\u2581a", "\u2581b", "ab", "bc", "\u2581ab"].map((token) => [token, 1]),
];

/** Shapes of the weights of a model without biases. */
function weightShapes({ vocab_size, d_model, d_ff, num_layers, num_heads, d_k, d_v }) {
  const shapes = { "embedding.weight": [vocab_size, d_model] };
  const addNorm = (name) => {
    for (const part of ["weight", "bias"]) shapes[`${name}_add_norm.norm.${part}`] = [d_model];
  };
  for (const stack of ["encoder", "decoder"])
    for (let layer = 0; layer < num_layers; layer++) {
      const name = `${stack}.layers.${layer}`;
      for (const kind of stack === "encoder" ? ["self"] : ["self", "cross"]) {
        const attention = `${name}.${kind}_attention`;
        for (const [part, width] of [
          ["q", d_k],
          ["k", d_k],
          ["v", d_v],
        ])
          shapes[`${attention}.w_${part}.weight`] = [num_heads * width, d_model];
        shapes[`${attention}.w_o.weight`] = [d_model, num_heads * d_v];
        addNorm(attention);
      }
      const sizes = {
        "w_1.weight": [d_ff, d_model],
        "w_1.bias": [d_ff],
        "w_2.weight": [d_model, d_ff],
        "w_2.bias": [d_model],
      };
      for (const [part, shape] of Object.entries(sizes)) shapes[`${name}.feed_forward.${part}`] = shape;
      addNorm(`${name}.feed_forward`);
    }
  return shapes;
}

export function tinyModel() {
  const model = {
    ...{ vocab_size: TOKENS.length, d_model: 6, d_ff: 5, num_layers: 2, num_heads: 2, d_k: 3, d_v: 3 },
    ...{ layer_norm_epsilon: 1e-6, first_position: 0, tie: "all", scaled: true, scaled_embeddings: true },
    ...{ attention_biases: false, output_bias: false },
  };
  const weights = weightShapes(model);
  const header = {};
  const numbers = [];
  let seed = 1;
  for (const [name, shape] of Object.entries(weights)) {
    const count = shape.reduce((product, each) => product * each, 1);
    header[name] = { dtype: "F32", shape, data_offsets: [4 * numbers.length, 4 * (numbers.length + count)] };
    for (let i = 0; i < count; i++) {
      seed = (seed * 48271) % 2147483647;
      numbers.push(seed / 2147483647 - 0.5);
    }
  }
  const files = {
    "model.safetensors": safetensors(header, new Uint8Array(Float32Array.from(numbers).buffer)),
    "tokenizer.model": sentencePiece(TOKENS),
  };
  const live = {
    model,
    weights,
    special_ids: { pad: 0, bos: 1, eos: 2, unk: 3 },
    decoding: {
      beam: 4,
      alpha: 0.6,
      length_penalty: "gnmt",
      min_length: 1,
      early_stopping: false,
      extra_length: 8,
      alternatives: 3,
    },
    limits: { characters: 400, tokens: 60 },
    reads: "en",
    words: { empty: "type", korean: "no", long: "{tokens} {over} {limit}", refused: "{characters} of {limit}" },
    header: { about: { model: "tiny" }, selection: { kind: "cross" } },
    files: Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, bytes.length])),
  };
  return { live, files };
}

/** Files one behind the other. */
export const joined = (files) => new Uint8Array(Buffer.concat(Object.values(files)));

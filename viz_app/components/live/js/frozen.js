// A forced pass that keeps what the frozen model needs. With attention weights, deviations and gates as they are, the model
// is affine.

/** @typedef {import("./transformer.js").Transformer} Transformer */
/**
 * A sublayer with attention, its Q rows and the K rows that they attend to.
 * @typedef {object} FrozenAttention
 * @property {Kind} kind
 * @property {string} name Of its weights.
 * @property {Float32Array} weights (h, Q, K)
 * @property {Float32Array} values (K, h d_v)
 * @property {Float32Array} factors (Q) One over the deviations of its LayerNorm.
 */
/**
 * @typedef {object} FrozenLayer
 * @property {string} name Of its feed-forward network's weights.
 * @property {FrozenAttention[]} attentions In their order.
 * @property {Float32Array} activations (n, d_ff)
 * @property {Float32Array} factors (n) As above.
 */
/** @typedef {{ states: Float32Array[], layers: FrozenLayer[] }} FrozenStack The states before and after each layer, (n, d). */
/** @typedef {{ encoder: FrozenStack, decoder: FrozenStack }} Frozen */

/**
 * Reads a source and a whole target.
 * @param {Transformer} model
 * @param {number[]} source With `</s>`.
 * @param {number[]} target `<s>` and the tokens.
 * @returns {Frozen}
 */
export function frozenPass(model, source, target) {
  const { d_model, num_heads, tie } = model.config;

  /**
   * @param {Kind} kind
   * @param {string} name
   * @param {import("./attention.js").MultiHeadAttention} attention
   * @param {import("./layers.js").AddAndNorm} addAndNorm
   * @param {Float32Array} x
   * @param {Float32Array} memory
   */
  function attend(kind, name, attention, addAndNorm, x, memory) {
    const [rows, keys] = [x.length / d_model, memory.length / d_model];
    const all = Int32Array.from({ length: keys }, (_, position) => position);
    const visible = (/** @type {number} */ row) => (kind === "decoder" ? all.subarray(0, row + 1) : all);
    const keysAndValues = attention.keysAndValues(memory, keys);
    const weights = new Float32Array(num_heads * rows * keys);
    const factors = new Float32Array(rows);
    const out = addAndNorm.apply(x, attention.attend(x, rows, keysAndValues, visible, weights), factors);
    return { out, kept: { kind, name, weights, values: keysAndValues.values, factors } };
  }

  /**
   * @param {"encoder" | "decoder"} stack
   * @param {Float32Array} embedded
   * @param {Float32Array | null} memory
   */
  function read(stack, embedded, memory) {
    const states = [embedded];
    const layers = model[stack].map((layer, number) => {
      const name = `${stack}.layers.${number}`;
      const x = states[number];
      const factors = new Float32Array(x.length / d_model);
      const own = attend(stack, `${name}.self_attention`, layer.selfAttention, layer.selfAddAndNorm, x, x);
      const attended = [own];
      if ("crossAttention" in layer && memory) {
        const { crossAttention, crossAddAndNorm } = /** @type {import("./layers.js").DecoderLayer} */ (layer);
        attended.push(attend("cross", `${name}.cross_attention`, crossAttention, crossAddAndNorm, own.out, memory));
      }
      const { out, activations } = layer.feedForward.apply(attended[attended.length - 1].out, factors.length, factors);
      states.push(out);
      return { name: `${name}.feed_forward`, attentions: attended.map(({ kept }) => kept), activations, factors };
    });
    return { states, layers };
  }

  const place = (/** @type {number} */ row) => row;
  const encoder = read("encoder", model.embed(source, place, tie === "all" ? "embedding" : "source_embedding"), null);
  const memory = encoder.states[encoder.states.length - 1];
  return { encoder, decoder: read("decoder", model.embed(target, place), memory) };
}

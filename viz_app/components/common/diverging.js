// Colours for numbers of both signs, such as differences.

// Purple for less, orange for more: told apart by every kind of colour vision, and the page itself where nothing differs.
const ENDS = {
  light: { less: ["#998ec3", "#542788"], more: ["#f1a340", "#b35806"] },
  dark: { less: ["#7b6bb5", "#cfc4ff"], more: ["#b3681a", "#ffc681"] },
};
const STEPS = 255; // on each side of 0

/** A number from -1 to 1 as a 32-bit pixel; the square root shows small ones, as it does for weights. */
export class Diverging {
  constructor(theme) {
    const { less, more } = ENDS[theme.dark ? "dark" : "light"];
    const zero = channels(theme.background);
    this.pixels = new Uint32Array(2 * STEPS + 1);
    for (let step = -STEPS; step <= STEPS; step++) {
      const [middle, end] = (step < 0 ? less : more).map(channels);
      const share = (2 * Math.abs(step)) / STEPS;
      const [from, to, part] = share <= 1 ? [zero, middle, share] : [middle, end, share - 1];
      const [red, green, blue] = from.map((value, index) => Math.round(value + (to[index] - value) * part));
      this.pixels[step + STEPS] = ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    }
  }

  pixel(value, scale = "linear") {
    const size = Math.min(1, Math.abs(value));
    const share = scale === "sqrt" ? Math.sqrt(size) : size;
    return this.pixels[STEPS + Math.sign(value) * Math.round(share * STEPS)];
  }
}

function channels(colour) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return Array.from(context.getImageData(0, 0, 1, 1).data).slice(0, 3);
}

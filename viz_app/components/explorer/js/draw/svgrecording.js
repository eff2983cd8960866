// What is drawn on a canvas, recorded as SVG while it is drawn.

/**
 * Records all that is drawn from now on.
 * @param {CanvasRenderingContext2D} context
 * @returns {(about: string) => string} Gives the file, with a description.
 */
export function recorded(context) {
  /** @type {string[]} */
  const parts = [];
  /** @type {string[]} */
  const clips = [];
  let [path, clip] = ["", ""]; // the path that is being drawn, and what cuts off all that follows

  const placed = () => {
    const { a, b, c, d, e, f } = context.getTransform();
    return `transform="matrix(${a} ${b} ${c} ${d} ${e} ${f})" opacity="${context.globalAlpha}"`;
  };
  /** @type {(element: string, content?: string) => void} */
  const put = (element, content = "") =>
    parts.push(`<g${clip}><${element} ${placed()}>${content}</${element.split(" ")[0]}></g>`);
  /** @type {(place: number[]) => string} */
  const box = ([x, y, width, height]) => `x="${x}" y="${y}" width="${width}" height="${height}"`;
  const line = () =>
    `fill="none" stroke="${context.strokeStyle}" stroke-width="${context.lineWidth}" stroke-dasharray="${context.getLineDash()}"`;

  /** @type {Record<string, (...values: any[]) => void>} */
  const records = {
    save: () => clips.push(clip),
    restore: () => (clip = clips.pop() ?? ""),
    beginPath: () => (path = ""),
    moveTo: (x, y) => (path += `M${x} ${y}`),
    lineTo: (x, y) => (path += `L${x} ${y}`),
    rect: (x, y, width, height) => (path += `M${x} ${y}h${width}v${height}h${-width}z`),
    stroke: () => put(`path d="${path}" ${line()}`),
    fillRect: (...place) => put(`rect ${box(place)} fill="${context.fillStyle}"`),
    strokeRect: (...place) => put(`rect ${box(place)} ${line()}`),
    clip: () => {
      parts.push(`<clipPath id="c${parts.length}"><path ${placed()} d="${path}"/></clipPath>`);
      clip = ` clip-path="url(#c${parts.length - 1})"`;
    },
    fillText: (text, x, y, most = Number.POSITIVE_INFINITY) => {
      const style = `font: ${escaped(context.font)}; text-anchor: ${context.textAlign === "right" ? "end" : "start"}`;
      const squeezed =
        context.measureText(text).width > most ? ` textLength="${most}" lengthAdjust="spacingAndGlyphs"` : "";
      const middle = context.textBaseline === "middle" ? ' dominant-baseline="central"' : "";
      const place = `x="${x}" y="${y}"${middle}${squeezed}`;
      put(`text ${place} fill="${context.fillStyle}" style="${style}"`, escaped(text));
    },
    drawImage: (canvas, ...places) => {
      const look = 'preserveAspectRatio="none" style="image-rendering: pixelated"';
      put(`image ${box(places.slice(-4))} ${look} href="${canvas.toDataURL()}"`);
    },
  };

  const methods = /** @type {any} */ (context);
  for (const [name, record] of Object.entries(records)) {
    const own = methods[name];
    methods[name] = (/** @type {any[]} */ ...values) => {
      record(...values);
      own.apply(context, values);
    };
  }
  return (about) => {
    const { width, height } = context.canvas;
    const start = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}">`;
    return `${start}<desc>${escaped(about)}</desc>${parts.join("")}</svg>`;
  };
}

/**
 * A text as XML; characters that XML forbids are replaced.
 * @param {string} text
 */
const escaped = (text) =>
  text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

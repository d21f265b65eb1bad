import { sameChoice } from "../../serving/page/choosing.js";
import { element } from "../../serving/page/element.js";
import { Lines } from "../../serving/page/lines.js";
import { readPiece } from "../../serving/page/pieces.js";
import { summary } from "../../serving/page/summary.js";
import { ALL, Weights } from "../../serving/page/weights.js";
import { heads } from "./heads.js";
import { HeatMap } from "./heat_map.js";

const MOST_OF_LINES = 60; // tokens; more are a heat map at first
const HINT = "Point at a token or touch it, or go to it with Tab and the arrow keys.";

/**
 * Draw attention weights into the shadow of an element, out of reach of the styles around it.
 *
 * `layers` are `{name, heads}`, heads `[H][T][S]`; a masked cell is null. `queries` and `keys` are the
 * tokens of a layer whose sizes they have, or null.
 */
export function show(host, style, { layers, queries, keys }) {
  const root = host.attachShadow({ mode: "open" });
  const figure = element("div", { class: "figure" });
  const words = element("p", { class: "words", role: "status" }, HINT);
  const kind = element("select", {}, option("lines"), option("heat map"));
  const choice = element("label", { class: "quiet" }, "Drawing ", kind);
  const named = layers.map(({ name, heads }) => ({ name, weights: ofLayer(heads, queries, keys) }));
  const overview = heads(named, (layer, head) => {
    [at, of] = [layer, head];
    draw();
  });
  let [at, of] = [0, ALL];
  let [chosen, pointedAt] = [null, null];
  let drawing, matrix;

  function draw() {
    const { weights } = named[at];
    const isMasked = (t, s) =>
      layers[at].heads.every((one, h) => (of !== ALL && of !== h) || one[t][s] === null);
    const mark = () => {
      const it = pointedAt ?? chosen;
      drawing.mark(it);
      const isBoth = it && it.target !== null && it.source !== null;
      const ending = isBoth && isMasked(it.target, it.source) ? [" It is masked."] : [];
      words.replaceChildren(...(it ? [...summary(weights, matrix, it), ...ending] : [HINT]));
    };
    const handlers = {
      choose: (one) => {
        chosen = one;
        mark();
      },
      pointAt: (one) => {
        if (sameChoice(one, pointedAt)) return;
        pointedAt = one;
        mark();
      },
    };
    chosen = pointedAt = null;
    matrix = weights.matrix(0, of);
    drawing =
      kind.value === "lines"
        ? new Lines(weights, handlers)
        : new HeatMap(weights, handlers, isMasked);
    figure.replaceChildren(drawing.element);
    drawing.show(matrix);
    mark();
    for (const button of overview.querySelectorAll("button")) {
      button.ariaPressed = String(button.dataset.head === `${at} ${of}`);
    }
  }

  kind.addEventListener("change", draw);
  const { sources, targets } = named[0].weights;
  if (sources.length + targets.length > MOST_OF_LINES) kind.value = "heat map";
  overview.hidden = named.every(({ weights }) => weights.numHeads < 2) && named.length < 2;
  root.append(element("style", {}, style), choice, figure, words, overview);
  draw();
}

function option(name) {
  return element("option", { value: name }, name);
}

function ofLayer(heads, queries, keys) {
  const [targets, sources] = [queries ?? count(heads[0]), keys ?? count(heads[0][0])];
  return new Weights([heads], {
    sources: sources.map(readPiece),
    targets: targets.map(readPiece),
    languages: { source: { code: codeOf(sources) }, target: { code: codeOf(targets) } },
    labels: { source: "keys", target: "queries" },
  });
}

function count(items) {
  return items.map((_, i) => String(i));
}

/** Language by which a font and a voice are chosen: kana is Japanese, Hangul is Korean. */
function codeOf(tokens) {
  const text = tokens.join("");
  return /[\u3040-\u30ff]/.test(text) ? "ja" : /[\uac00-\ud7a3]/.test(text) ? "ko" : "";
}

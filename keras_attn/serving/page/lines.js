import { trackPointer } from "./choosing.js";
import { drawing, element } from "./element.js";
import { languageOf } from "./pieces.js";
import { inList, rove } from "./roving.js";
import { chosenWeights } from "./weights.js";

const EVERYTHING = { target: null, source: null };
// Weights below are not drawn: thousands of lines that nobody sees. A chosen piece has few.
const LEAST_OF_ALL = 0.04;
const LEAST_OF_CHOSEN = 0.005;
const LEAST_TOLD = 0.01; // next to the piece

/**
 * Attention as lines between the pieces of the text and those of its translation, the wider and the
 * darker the more weight. The pieces are two lists; the style sheet lays them out, one above the
 * other or side by side, and the lines go between the sides that face each other. A click on a line
 * chooses its pair of pieces.
 */
export class Lines {
  #matrix;
  #chosen = null;
  #inner;
  #canvas = drawing("svg", { "aria-hidden": "true" });
  #sources;
  #targets;
  #lines = new Map(); // the choice of each line

  constructor({ sources, targets, languages, labels }, handlers) {
    this.#sources = sources.map((piece) => option(piece, languages.source.code));
    this.#targets = targets.map((piece) => option(piece, languages.target.code));
    this.#inner = element(
      "div",
      { class: "pieces-and-lines" },
      this.#canvas,
      list(this.#sources, labels.source, "source"),
      list(this.#targets, labels.target, "target"),
    );
    this.element = element("div", { class: "scroll" }, this.#inner);
    const choices = new Map([
      ...this.#sources.map((item, source) => [item, { target: null, source }]),
      ...this.#targets.map((item, target) => [item, { target, source: null }]),
    ]);
    trackPointer(this.#inner, choices, handlers);
    this.#canvas.addEventListener("click", (event) => {
      if (!this.#lines.has(event.target)) return;
      handlers.choose(this.#lines.get(event.target));
      event.stopPropagation(); // a click elsewhere takes the choice back
    });
    // Also called once at first, and when the section is opened.
    new ResizeObserver(() => this.#draw()).observe(this.#inner);
  }

  /** Draw these weights `[T][S]`. */
  show(matrix) {
    this.#matrix = matrix;
    this.mark(this.#chosen);
  }

  /** Leave only the lines of the chosen piece, or all of them for null. */
  mark(chosen) {
    this.#chosen = chosen;
    this.#markList(this.#sources, chosen?.source, (s) => this.#matrix[chosen?.target]?.[s]);
    this.#markList(this.#targets, chosen?.target, (t) => this.#matrix[t][chosen?.source]);
    this.#draw();
  }

  #markList(items, chosen, weightOf) {
    items.forEach((item, i) => {
      item.setAttribute("aria-selected", String(i === chosen));
      const weight = weightOf(i) ?? 0;
      item.style.setProperty("--weight", weight);
      if (weight >= LEAST_TOLD) item.dataset.share = `${Math.round(100 * weight)}%`;
      else delete item.dataset.share;
    });
  }

  #draw() {
    const box = this.#inner.getBoundingClientRect();
    if (!box.width || !this.#matrix) return; // not shown
    const sources = this.#sources.map((item) => item.getBoundingClientRect());
    const targets = this.#targets.map((item) => item.getBoundingClientRect());
    const isAbove = sources[0].bottom <= targets[0].top;
    const curve = isAbove ? curveDown : curveAcross;
    const least = this.#chosen ? LEAST_OF_CHOSEN : LEAST_OF_ALL;
    this.#lines = new Map(
      chosenWeights(this.#matrix, this.#chosen ?? EVERYTHING)
        .filter(({ weight }) => weight >= least)
        .map(({ target, source, weight }) => [
          drawing("path", {
            d: curve(sources[source], targets[target], box),
            "stroke-width": (1 + 5 * weight).toFixed(2),
            "stroke-opacity": (0.1 + 0.9 * weight).toFixed(3),
          }),
          { target, source },
        ]),
    );
    this.#canvas.replaceChildren(...this.#lines.keys());
  }
}

function option(piece, code) {
  const lang = languageOf(piece, code);
  const item = element(
    "li",
    { role: "option", "aria-label": piece.name, "aria-selected": "false", class: piece.kind, lang },
    piece.text,
  );
  if (piece.beginsWord) item.classList.add("begins-word");
  return item;
}

function list(items, name, side) {
  const label = element("p", { class: "side", id: `${side}-pieces` }, name);
  const list = element(
    "ul",
    { role: "listbox", "aria-labelledby": label.id, class: "pieces" },
    ...items,
  );
  rove(list, items, inList(items.length));
  return element("div", { class: `list ${side}` }, label, list);
}

function curveDown(source, target, box) {
  const [x1, x2] = [source, target].map(({ left, width }) => left + width / 2 - box.left);
  const [y1, y2] = [source.bottom - box.top, target.top - box.top];
  return `M${x1} ${y1}C${x1} ${(y1 + y2) / 2} ${x2} ${(y1 + y2) / 2} ${x2} ${y2}`;
}

function curveAcross(source, target, box) {
  const [y1, y2] = [source, target].map(({ top, height }) => top + height / 2 - box.top);
  const [x1, x2] = [source.right - box.left, target.left - box.left];
  return `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`;
}

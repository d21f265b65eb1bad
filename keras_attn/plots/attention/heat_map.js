import { trackPointer } from "../../serving/page/choosing.js";
import { element } from "../../serving/page/element.js";
import { languageOf } from "../../serving/page/pieces.js";
import { rove } from "../../serving/page/roving.js";
import { inGrid } from "./grid.js";

const LONGEST = 2; // characters of a heading that stands upright

/**
 * Attention as a table: a row for each query, a column for each key, as in
 * `keras_attn.plots.plot_attention`. Arrow keys go through the cells.
 */
export class HeatMap {
  #rows; // of cells: the headings of the columns, then for each query its heading and weights
  #isMasked;
  #marked = [];

  /** `isMasked(t, s)` tells whether no head may attend from query t to key s. */
  constructor({ sources, targets, languages }, handlers, isMasked) {
    this.#isMasked = isMasked;
    const corner = element("td", {}, hidden("queries by keys"));
    const headings = sources.map((piece) => heading(piece, "col", languages.source.code));
    const rows = targets.map((piece) => [
      heading(piece, "row", languages.target.code),
      ...sources.map(() => element("td", { class: "weight" })),
    ]);
    this.#rows = [[corner, ...headings], ...rows];
    const table = element(
      "table",
      // Each cell can be gone to, as in a spreadsheet, so it is a grid to assistive technology.
      { role: "grid", "aria-readonly": "true", "aria-label": "Weights, queries by keys" },
      element("thead", {}, element("tr", {}, ...this.#rows[0])),
      element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells))),
    );
    rove(table, this.#rows.flat(), inGrid(this.#rows.length, sources.length + 1));
    trackPointer(table, this.#choices(), handlers);
    this.element = element("div", { class: "scroll" }, table);
  }

  /** Show these weights `[T][S]`. */
  show(matrix) {
    matrix.forEach((row, t) =>
      row.forEach((weight, s) => {
        const cell = this.#rows[t + 1][s + 1];
        const isMasked = this.#isMasked(t, s);
        cell.style.setProperty("--weight", weight);
        cell.textContent = isMasked ? "masked" : weight.toFixed(2);
        cell.classList.toggle("masked", isMasked);
      }),
    );
  }

  /** Mark the headings that the chosen cell, row or column is under, or none for null. */
  mark(chosen) {
    for (const cell of this.#marked) cell.classList.remove("chosen");
    const { target, source } = { target: null, source: null, ...chosen };
    this.#marked = [];
    if (target !== null) this.#marked.push(this.#rows[target + 1][0]);
    if (source !== null) this.#marked.push(this.#rows[0][source + 1]);
    for (const cell of this.#marked) cell.classList.add("chosen");
  }

  #choices() {
    const entries = this.#rows.flatMap((cells, row) =>
      cells.map((cell, column) => [
        cell,
        { target: row ? row - 1 : null, source: column ? column - 1 : null },
      ]),
    );
    return new Map(entries.slice(1)); // the corner chooses nothing
  }
}

function heading(piece, scope, code) {
  const lang = languageOf(piece, code);
  const isLong = piece.text.length > LONGEST;
  const name = element("span", { class: isLong ? "long" : "short" }, piece.text);
  return element("th", { scope, "aria-label": piece.name, lang }, name);
}

function hidden(text) {
  return element("span", { class: "visually-hidden" }, text);
}

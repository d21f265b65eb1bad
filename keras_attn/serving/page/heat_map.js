import { trackPointer } from "./choosing.js";
import { element } from "./element.js";
import { languageOf } from "./pieces.js";
import { inGrid, rove } from "./roving.js";

const LEAST_SEEN = 0.095; // numbers below are there for screen readers, but would hide the colours

/**
 * Attention as a table: a row for each target piece, a column for each source piece, as in
 * `keras_attn.plots.plot_attention`. Arrow keys go through its cells.
 */
export class HeatMap {
  #rows; // of cells: the headings of the columns, then for each target its heading and weights
  #marked = [];

  constructor({ sources, targets, languages, labels }, handlers) {
    const corner = element("td", {}, hidden(`${labels.target} by ${labels.source}`));
    const headings = sources.map((piece) => heading(piece, "col", languages.source.code));
    const rows = targets.map((piece) => [
      heading(piece, "row", languages.target.code),
      ...sources.map(() => element("td", { class: "weight" })),
    ]);
    this.#rows = [[corner, ...headings], ...rows];
    const table = element(
      "table",
      // Each cell can be gone to, as in a spreadsheet, so it is a grid to assistive technology.
      { role: "grid", "aria-readonly": "true" },
      element("caption", { class: "visually-hidden" }, caption(labels)),
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
        cell.style.setProperty("--weight", weight);
        cell.textContent = weight.toFixed(2);
        cell.classList.toggle("faint", weight < LEAST_SEEN);
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
  const name = element("span", { class: `piece ${piece.kind}` }, piece.text);
  return element("th", { scope, "aria-label": piece.name, lang }, name);
}

function hidden(text) {
  return element("span", { class: "visually-hidden" }, text);
}

function caption({ source, target }) {
  return `How much the pieces of the rows attended to the pieces of the columns. Rows: ${target}. Columns: ${source}.`;
}

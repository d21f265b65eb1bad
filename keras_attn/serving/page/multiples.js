import { element } from "./element.js";
import { inGrid, rove } from "./roving.js";

const DARK = matchMedia("(prefers-color-scheme: dark)");

/**
 * Small pictures of all layers and heads at once, a row for each layer. Each picture is a button:
 * `choose(layer, head)` is told of a choice, and of nulls when the choice is taken back.
 */
export class Multiples {
  #box;
  #choose;
  #weights = null;
  #buttons = []; // [layer][head]

  constructor(box, choose) {
    this.#box = box;
    this.#choose = choose;
    DARK.addEventListener("change", () => this.#paint());
  }

  /** Draw these weights; one head alone needs no overview. */
  show(weights) {
    this.#weights = weights;
    const { numLayers, numHeads } = weights;
    this.#box.hidden = numLayers * numHeads < 2;
    this.#buttons = range(numLayers).map((layer) =>
      range(numHeads).map((head) => this.#button(layer, head)),
    );
    const rows = this.#buttons.map((heads, layer) =>
      element(
        "div",
        { class: "layer" },
        element("p", { class: "quiet" }, `Layer ${layer + 1}`),
        element("div", { class: "heads" }, ...heads),
      ),
    );
    // In an element of its own, so that the keys of the earlier buttons go with them.
    const grid = element("div", {}, ...rows);
    rove(grid, this.#buttons.flat(), inGrid(numLayers, numHeads));
    this.#box.replaceChildren(grid);
    this.#paint();
  }

  /** Mark the chosen head, if it is one. */
  mark(layer, head) {
    this.#buttons.flat().forEach((button) => button.setAttribute("aria-pressed", "false"));
    this.#buttons[layer]?.[head]?.setAttribute("aria-pressed", "true");
  }

  clear() {
    this.#weights = null;
    this.#box.hidden = true;
    this.#box.replaceChildren();
  }

  #button(layer, head) {
    const { sources, targets } = this.#weights;
    const picture = element("canvas", { width: sources.length, height: targets.length });
    picture.setAttribute("aria-hidden", "true");
    const ofLayer = element("span", { class: "visually-hidden" }, `Layer ${layer + 1}, `);
    const button = element(
      "button",
      { type: "button", "aria-pressed": "false" },
      picture,
      ofLayer,
      `head ${head + 1}`,
    );
    button.addEventListener("click", () => {
      const isChosen = button.getAttribute("aria-pressed") === "true";
      if (isChosen) this.#choose(null, null);
      else this.#choose(layer, head);
    });
    return button;
  }

  #paint() {
    this.#buttons.forEach((heads, layer) =>
      heads.forEach((button, head) => {
        paint(button.querySelector("canvas"), this.#weights.matrix(layer, head));
      }),
    );
  }
}

/** A cell is the darker the more weight; the largest weight of a picture has the full colour. */
function paint(canvas, matrix) {
  const context = canvas.getContext("2d");
  const largest = Math.max(...matrix.flat());
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = getComputedStyle(canvas).color;
  matrix.forEach((row, t) =>
    row.forEach((weight, s) => {
      context.globalAlpha = weight / largest;
      context.fillRect(s, t, 1, 1);
    }),
  );
}

function range(length) {
  return Array.from({ length }, (_, i) => i);
}

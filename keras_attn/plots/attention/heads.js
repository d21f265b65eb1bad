import { element } from "../../serving/page/element.js";
import { rove } from "../../serving/page/roving.js";
import { ALL } from "../../serving/page/weights.js";
import { inGrid } from "./grid.js";

const INK = "#dd6038"; // seen on light and dark ground

/**
 * Small pictures of all heads, a row for each of `layers`, `{name, weights}`. Each picture is a
 * button: `choose(layer, head)` is called with its numbers. The first of a row is the average.
 */
export function heads(layers, choose) {
  const columns = 1 + Math.max(...layers.map(({ weights }) => weights.numHeads));
  const rows = layers.map(({ name, weights }, layer) =>
    (weights.numHeads > 1 ? [ALL, ...Array(weights.numHeads).keys()] : [ALL]).map((head) => {
      const spoken = element("span", { class: "visually-hidden" }, `${name} `);
      const text = head !== ALL ? `head ${head}` : weights.numHeads > 1 ? "average" : "head 0";
      const button = element("button", { type: "button" }, picture(weights, head), spoken, text);
      button.addEventListener("click", () => choose(layer, head));
      button.dataset.head = `${layer} ${head}`;
      return button;
    }),
  );
  const box = element("div", { class: "heads", role: "group", "aria-label": "Heads" });
  layers.forEach(({ name }, i) =>
    box.append(element("p", { class: "quiet" }, name), element("div", {}, ...rows[i])),
  );
  // Rows may differ in length; a key stops at the last button of a row.
  const places = rows.flatMap((row) => Array.from({ length: columns }, (_, i) => row[i] ?? row.at(-1)));
  const next = inGrid(rows.length, columns);
  const items = rows.flat();
  rove(box, items, (key, i) => {
    const to = places[next(key, places.indexOf(items[i]))];
    return to && items.indexOf(to);
  });
  return box;
}

/** A cell is the darker the more weight; the largest weight of a picture has the full colour. */
function picture(weights, head) {
  const { sources, targets } = weights;
  const canvas = element("canvas", { width: sources.length, height: targets.length });
  const context = canvas.getContext("2d");
  const matrix = weights.matrix(0, head);
  const largest = Math.max(...matrix.map((row) => Math.max(...row)));
  context.fillStyle = INK;
  matrix.forEach((row, t) =>
    row.forEach((weight, s) => {
      context.globalAlpha = weight / (largest || 1);
      context.fillRect(s, t, 1, 1);
    }),
  );
  canvas.ariaHidden = "true";
  return canvas;
}

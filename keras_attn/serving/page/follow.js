import { element } from "./element.js";
import { languageOf } from "./pieces.js";
import { Problem } from "./problem.js";
import { ALL } from "./weights.js";

const MOST = 4; // values and products that are shown
const COOLEST = 0.1;
const HOTTEST = 5;

/**
 * Follow a number: how a head of cross-attention makes the weight of a pair of pieces, and what it
 * does with it, step by step.
 *
 * `fetchHead(layer, head)` gives the `{queries, keys, values}` of the head.
 */
export class Follow {
  #box;
  #steps;
  #problem;
  #fetchHead;
  #weights = null; // of cross-attention, or null
  #pair; // {target, source}
  #drawn; // {layer, head} of the drawing
  #head; // {layer, head} that is followed
  #temperature = 1;
  #request = 0;

  constructor(box, fetchHead) {
    this.#box = box;
    this.#steps = box.querySelector(".steps");
    this.#problem = new Problem(box.querySelector(".problem"));
    this.#fetchHead = fetchHead;
    box.addEventListener("toggle", () => void this.#follow());
  }

  /** Show the computation of a chosen weight; by default, of the strongest of the drawing. */
  show(weights, matrix, drawn, chosen) {
    this.#weights = weights;
    this.#drawn = drawn;
    this.#pair = pairOf(matrix, weights.targets, chosen);
    this.#head = null;
    this.#box.hidden = false;
    void this.#follow();
  }

  clear() {
    this.#weights = null;
    this.#box.hidden = true;
    this.#steps.replaceChildren();
  }

  async #follow() {
    if (!this.#box.open || !this.#weights) return;
    this.#head ??= this.#strongest();
    const { layer, head } = this.#head;
    const number = ++this.#request;
    try {
      const computed = await this.#fetchHead(layer, head);
      if (number !== this.#request) return; // another number is followed by now
      this.#problem.clear();
      this.#draw(computed);
    } catch (error) {
      if (number === this.#request) this.#problem.show(error.message, () => void this.#follow());
    }
  }

  /** Those heads of the drawing that are averaged, or its one, with their weights of the pair. */
  #heads() {
    const { numLayers, numHeads } = this.#weights;
    const { target, source } = this.#pair;
    const numbers = (chosen, count) =>
      chosen === ALL ? Array.from({ length: count }, (_, i) => i) : [Number(chosen)];
    return numbers(this.#drawn.layer, numLayers).flatMap((layer) =>
      numbers(this.#drawn.head, numHeads).map((head) => {
        return { layer, head, weight: this.#weights.matrix(layer, head)[target][source] };
      }),
    );
  }

  #strongest() {
    return this.#heads().reduce((best, one) => (one.weight > best.weight ? one : best));
  }

  #draw({ queries, keys, values }) {
    const { target, source } = this.#pair;
    const size = queries[target].length;
    const scores = keys.map((key) => dot(queries[target], key) / Math.sqrt(size));
    const row = element("div", { class: "scroll" });
    const sum = element("div");
    const weigh = () => {
      const weights = softmax(scores.map((score) => score / this.#temperature));
      row.replaceChildren(this.#row(scores, weights));
      sum.replaceChildren(...this.#sum(weights, values));
    };
    weigh();
    this.#steps.replaceChildren(
      note("From ", this.#name("target", target), " to ", this.#name("source", source), ":"),
      element(
        "ol",
        {},
        step("The weight", ...this.#ofHeads()),
        step("Its score: a query times a key", ...this.#score(queries[target], keys[source], scores[source])),
        step("Softmax over the row", note("Each weight is a part of the sum of the exponentials."), row, this.#slider(weigh)),
        step("The weighted sum", sum),
      ),
    );
  }

  #ofHeads() {
    const heads = this.#heads();
    const mean = heads.reduce((sum, { weight }) => sum + weight, 0) / heads.length;
    const { layer, head } = this.#head;
    const followed = heads.findIndex((one) => one.layer === layer && one.head === head);
    const options = heads.map(({ layer, head, weight }, i) =>
      element("option", { value: i }, `layer ${layer + 1}, head ${head + 1}: ${percent(weight)}`),
    );
    const select = element("select", { id: "followed" }, ...options);
    select.selectedIndex = followed;
    select.addEventListener("change", () => {
      this.#head = heads[select.selectedIndex];
      void this.#follow().then(() => document.getElementById("followed").focus());
    });
    const words =
      heads.length > 1
        ? `The line shows ${percent(mean)}, the average of ${heads.length} heads. One of them: `
        : "The line shows ";
    return [note(element("label", { for: "followed" }, words), select)];
  }

  #score(query, key, score) {
    const { target, source } = this.#pair;
    const products = query.map((x, i) => x * key[i]);
    const beginning = query.slice(0, MOST - 1).map((x, i) => `${bracket(x)} · ${bracket(key[i])}`);
    const total = dot(query, key);
    return [
      note(`Each piece of the translation has a query, each piece of the text a key, of ${query.length} numbers. They are multiplied number by number, summed, and divided by √${query.length}.`),
      strips([
        [["Query of ", this.#name("target", target)], query],
        [["Key of ", this.#name("source", source)], key],
        [["Products"], products],
      ]),
      note(`q · k = ${beginning.join(" + ")} + … = ${fixed(total)}`),
      note(`Score: ${fixed(total)} / √${query.length} = `, element("b", {}, fixed(score))),
    ];
  }

  #row(scores, weights) {
    const { source } = this.#pair;
    const { sources, languages } = this.#weights;
    const rows = sources.map((piece, s) => {
      const lang = languageOf(piece, languages.source.code);
      const button = element("button", { type: "button", "aria-pressed": s === source, lang }, piece.text);
      if (piece.kind !== "text") button.setAttribute("aria-label", piece.name);
      button.addEventListener("click", () => {
        this.#pair = { ...this.#pair, source: s };
        void this.#follow().then(() => this.#steps.querySelectorAll("th button")[s].focus());
      });
      const bar = element("span", { class: "bar" });
      bar.style.setProperty("--weight", weights[s]);
      return element(
        "tr",
        {},
        element("th", { scope: "row" }, button),
        element("td", {}, fixed(scores[s])),
        element("td", {}, fixed(Math.exp((scores[s] - Math.max(...scores)) / this.#temperature))),
        element("td", { class: "share" }, percent(weights[s]), bar),
      );
    });
    const divisor = this.#temperature;
    const divided = divisor === 1 ? "score − max" : `(score − max) / ${divisor}`;
    const heads = ["Piece", "Score", `exp(${divided})`, "Weight"];
    return element(
      "table",
      { class: "row" },
      element("thead", {}, element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)))),
      element("tbody", {}, ...rows),
    );
  }

  #slider(changed) {
    const attributes = { min: COOLEST, max: HOTTEST, step: 0.1, value: this.#temperature };
    const slider = element("input", { type: "range", id: "temperature", ...attributes });
    const told = element("output", { for: "temperature" });
    const update = () => {
      this.#temperature = slider.valueAsNumber;
      told.textContent =
        this.#temperature === 1
          ? "1: the weights of the model"
          : `${this.#temperature}: ${this.#temperature < 1 ? "sharper" : "flatter"} than the model`;
      changed();
    };
    slider.addEventListener("input", update);
    update();
    const label = element("label", { for: "temperature" }, "Temperature, a divisor of the scores");
    return element("p", { class: "temperature" }, label, slider, told);
  }

  #sum(weights, values) {
    const order = weights.map((_, s) => s).sort((one, other) => weights[other] - weights[one]);
    const drawn = order.slice(0, MOST);
    const total = values[0].map((_, i) => weights.reduce((sum, w, s) => sum + w * values[s][i], 0));
    const left = order.length - drawn.length;
    const parts = drawn.map((s) => [
      [`${percent(weights[s])} of the value of `, this.#name("source", s)],
      values[s].map((x) => weights[s] * x),
    ]);
    return [
      note("Each piece of the text has a value, too. The values are multiplied by their weights and summed."),
      strips([...parts, [[left > 0 ? `Sum, with ${left} more` : "Sum"], total]], true),
      note("The sums of all heads are joined and projected; the result is added to what the decoder knows of ", this.#name("target", this.#pair.target), "."),
    ];
  }

  #name(side, i) {
    const piece = this.#weights[`${side}s`][i];
    const { code } = this.#weights.languages[side];
    return element("b", { lang: languageOf(piece, code) }, piece.name);
  }
}

/** The chosen pair; where a side is not chosen, its strongest one, for a piece of text if any. */
function pairOf(matrix, targets, chosen) {
  let best = null;
  matrix.forEach((row, target) =>
    row.forEach((weight, source) => {
      if ((chosen?.target ?? target) !== target || (chosen?.source ?? source) !== source) return;
      const isText = targets[target].kind === "text" || chosen?.target === target;
      const strength = weight + (isText ? 1 : 0);
      if (!best || strength > best.strength) best = { target, source, strength };
    }),
  );
  return best;
}

function softmax(scores) {
  const highest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - highest));
  const sum = exponentials.reduce((one, other) => one + other, 0);
  return exponentials.map((x) => x / sum);
}

function note(...words) {
  return element("p", {}, ...words);
}

function dot(one, other) {
  return one.reduce((sum, x, i) => sum + x * other[i], 0);
}

function step(name, ...content) {
  return element("li", {}, element("h4", {}, name), ...content);
}

/**
 * Rows of numbers as cells: one colour above 0, another below, the darker the further from it, on one
 * scale for each row, or `together`.
 */
function strips(rows, together = false) {
  const all = rows.flatMap(([, numbers]) => numbers);
  const parts = rows.flatMap(([label, numbers]) => {
    const largest = Math.max(...(together ? all : numbers).map(Math.abs), 1e-9);
    const cells = numbers.map((x, i) => {
      const cell = element("i", { class: x < 0 ? "minus" : "plus", title: `${i + 1}: ${fixed(x)}` });
      cell.style.setProperty("--weight", Math.abs(x) / largest);
      return cell;
    });
    const range = [Math.min(...numbers), Math.max(...numbers)].map(fixed).join(" to ");
    const strip = element("span", { class: "strip", role: "img" }, ...cells);
    strip.setAttribute("aria-label", `${numbers.length} numbers from ${range}`);
    return [element("dt", {}, ...label), element("dd", {}, strip)];
  });
  return element("dl", { class: "strips" }, ...parts);
}

function percent(weight) {
  return `${(100 * weight).toFixed(1)}%`;
}

function fixed(x) {
  return x.toFixed(2).replace("-", "−");
}

function bracket(x) {
  return x < 0 ? `(${fixed(x)})` : fixed(x);
}

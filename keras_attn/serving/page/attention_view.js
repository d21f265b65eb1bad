import { ALL } from "./attention.js";
import { sameChoice } from "./choosing.js";
import { byId, element } from "./element.js";
import { HeatMap } from "./heat_map.js";
import { Lines } from "./lines.js";
import { summary } from "./summary.js";

const DRAWINGS = { lines: Lines, "heat-map": HeatMap };

/**
 * The section on attention: what was chosen of layers, heads and drawings, and the drawing.
 *
 * `languages` is `{source, target}`, each `{code, name}`; `maxPieces` is the number of pieces that the
 * model reads at once.
 */
export class AttentionView {
  #languages;
  #maxPieces;
  #attention = null;
  #matrix;
  #drawing;
  #chosen = null; // stays until another is chosen
  #pointedAt = null; // shown instead, as long as the pointer is there
  #form = byId("choices");
  #figure = byId("figure");

  constructor(languages, maxPieces) {
    this.#languages = languages;
    this.#maxPieces = maxPieces;
    this.#form.addEventListener("change", (event) => {
      if (event.target.name === "drawing") this.#draw();
      this.#weigh();
    });
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.clear();
  }

  /**
   * Show the attention of a sentence; choices are kept. `best` is the translation that the page
   * shows of this sentence alone, or null where it shows that of several.
   */
  show(attention, best) {
    this.#attention = attention;
    this.#chosen = this.#pointedAt = null; // of pieces that are gone
    byId("words").style.minHeight = "";
    setOptions(byId("layer"), "layers", "Layer", attention.numLayers);
    setOptions(byId("head"), "heads", "Head", attention.numHeads);
    this.#showOther(best);
    this.#form.hidden = false;
    this.stale = false;
    this.#draw();
    this.#weigh();
  }

  /** Whether what is shown belongs to an earlier text. */
  set stale(isStale) {
    this.#figure.setAttribute("aria-busy", String(isStale));
  }

  clear() {
    this.#attention = null;
    this.#form.hidden = true;
    this.stale = false;
    byId("other-translation").hidden = true;
    this.#figure.replaceChildren();
    byId("looked-at").replaceChildren();
  }

  #draw() {
    const Drawing = DRAWINGS[new FormData(this.#form).get("drawing")];
    this.#drawing = new Drawing(this.#attention, this.#languages, {
      choose: (chosen) => {
        this.#chosen = chosen;
        this.#mark();
      },
      pointAt: (chosen) => {
        if (sameChoice(chosen, this.#pointedAt)) return;
        this.#pointedAt = chosen;
        this.#mark();
      },
    });
    this.#figure.replaceChildren(this.#drawing.element);
  }

  #weigh() {
    this.#matrix = this.#attention.matrix(byId("layer").value, byId("head").value);
    this.#drawing.show(this.#matrix);
    this.#mark();
  }

  #mark() {
    const shown = this.#pointedAt ?? this.#chosen;
    this.#drawing.mark(shown);
    const words = shown ? summary(this.#attention, this.#matrix, shown, this.#languages) : [];
    byId("looked-at").replaceChildren(...words);
    // It never becomes lower again: at the end of the page, the drawing would move under the pointer.
    byId("words").style.minHeight = `${byId("words").offsetHeight}px`;
  }

  /** Say which translation the attention belongs to, unless it is the one that the page shows. */
  #showOther(best) {
    const { sources, translation } = this.#attention;
    const number = this.#maxPieces;
    const isFull = sources.length >= number; // there may be pieces that the model did not read
    const notice = byId("other-translation");
    notice.hidden = !isFull && translation.trim() === best?.trim();
    notice.replaceChildren(
      isFull
        ? `The model reads at most ${number} pieces at once. This is the attention of the first ${number} alone: `
        : "This is the attention of one sentence, translated alone: ",
      element("q", { lang: this.#languages.target.code }, translation),
    );
  }
}

/** The average and each of `count`, counted from 1; what was chosen stays chosen. */
function setOptions(select, plural, name, count) {
  if (select.options.length === count + 1) return;
  const { value } = select;
  const each = Array.from({ length: count }, (_, i) =>
    element("option", { value: i }, `${name} ${i + 1}`),
  );
  select.replaceChildren(element("option", { value: ALL }, `average of all ${plural}`), ...each);
  select.value = value;
  if (select.selectedIndex < 0) select.value = ALL;
}

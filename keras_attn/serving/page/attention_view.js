import { Alternatives } from "./alternatives.js";
import { sameChoice } from "./choosing.js";
import { byId, element } from "./element.js";
import { Follow } from "./follow.js";
import { Lines } from "./lines.js";
import { languageOf } from "./pieces.js";
import { summary } from "./summary.js";
import { ALL } from "./weights.js";

/**
 * The section on attention: the drawing, the computation of a weight, the alternatives of the model,
 * and the choice of kind, layer and head.
 *
 * `languages` is `{source, target}`, each `{code, name}`; `settings` are those of the page.
 * `continueFrom(pieces)` is called with the pieces that another translation begins with, and
 * `ofHead(pieces, layer, head)` for what a head computes with.
 */
export class AttentionView {
  #languages;
  #settings;
  #attention = null;
  #best = null; // `{attention, best}`, the way back from another translation
  #weights; // of the chosen kind
  #matrix;
  #drawing;
  #chosen = null; // stays until another is chosen
  #pointedAt = null; // shown instead, as long as the pointer is there
  #form = byId("choices");
  #figure = byId("figure");
  #alternatives;
  #follow;
  #heads = new Map(); // what `ofHead` fetched for this attention, by layer and head

  constructor(languages, settings, { continueFrom, ofHead }) {
    this.#languages = languages;
    this.#settings = settings;
    this.#follow = new Follow(byId("follow"), (layer, head) => this.#ofHead(ofHead, layer, head));
    this.#alternatives = new Alternatives(
      byId("alternatives"),
      languages.target,
      (place, piece) => {
        const before = this.#attention.targets.slice(0, place);
        continueFrom([...before, piece].map(({ raw }) => raw));
      },
    );
    byId("alternative").querySelector("button").addEventListener("click", () => {
      this.show(this.#best.attention, this.#best.best);
      this.#alternatives.focus(0); // the button that had the focus is gone
    });
    this.#form.addEventListener("change", (event) => {
      if (event.target.id === "kind") {
        this.#chosen = this.#pointedAt = null; // of other pieces
        this.#draw();
      }
      this.#weigh();
    });
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("resize", () => {
      this.#figure.style.minHeight = "";
    });
    this.clear();
  }

  /**
   * Show the attention of a sentence; choices are kept. `best` is the translation that the page
   * shows of this sentence alone, or null where it shows that of several.
   */
  show(attention, best) {
    if (attention.isEmpty) {
      this.showNone();
      return;
    }
    this.#best = { attention, best };
    byId("alternative").hidden = true;
    this.#show(attention);
    this.#showOther(best);
  }

  /** Tell that there is no attention, for text that is returned as given. */
  showNone() {
    this.clear();
    byId("other-translation").textContent =
      "Nothing here is translated, so there is no attention to show.";
    byId("other-translation").hidden = false;
  }

  /** Show another translation of that sentence, for which the piece at `place` was chosen. */
  showAlternative(attention, place) {
    this.#show(attention);
    byId("other-translation").hidden = true;
    const { code } = this.#languages.target;
    const piece = attention.targets[place];
    const quoted = element("q", { lang: code }, attention.translation);
    const words = attention.translation
      ? ["Another translation", ...from(piece, code), ": ", quoted]
      : ["The model has no translation that begins so."];
    byId("alternative").querySelector("p").replaceChildren(...words);
    byId("alternative").hidden = false;
    this.#alternatives.focus(place);
  }

  /** Whether what is shown belongs to an earlier text. */
  set stale(isStale) {
    this.#figure.setAttribute("aria-busy", String(isStale));
  }

  clear() {
    this.#attention = null;
    byId("attention").classList.add("none");
    this.stale = false;
    byId("other-translation").hidden = true;
    byId("alternative").hidden = true;
    this.#figure.replaceChildren();
    byId("looked-at").replaceChildren();
  }

  #show(attention) {
    this.#attention = attention;
    this.#chosen = this.#pointedAt = null; // of pieces that are gone
    this.#heads.clear();
    this.#offerKinds();
    byId("attention").classList.remove("none");
    this.stale = false;
    this.#draw();
    this.#weigh();
    this.#alternatives.show(attention);
    // Like the words below it, the drawing never becomes lower, so that nothing jumps.
    this.#figure.style.minHeight = `${this.#figure.offsetHeight}px`;
  }

  #offerKinds() {
    const { kinds } = this.#attention;
    const [source, target] = [this.#languages.source.name, this.#languages.target.name];
    const names = {
      cross: `cross-attention: ${target} to ${source}`,
      encoder: `encoder self-attention: ${source} to ${source}`,
      decoder: `decoder self-attention: ${target} to ${target}`,
    };
    const options = kinds.map((kind) => element("option", { value: kind }, names[kind]));
    offer(byId("kind"), options);
    byId("kind-choice").hidden = kinds.length < 2;
  }

  #draw() {
    this.#weights = this.#attention.of(byId("kind").value);
    offer(byId("layer"), each("layers", "Layer", this.#weights.numLayers));
    offer(byId("head"), each("heads", "Head", this.#weights.numHeads));
    this.#drawing = new Lines(this.#weights, {
      choose: (chosen) => {
        this.#chosen = chosen;
        this.#mark();
        this.#explain();
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
    this.#matrix = this.#weights.matrix(byId("layer").value, byId("head").value);
    this.#drawing.show(this.#matrix);
    this.#mark();
    this.#explain();
  }

  #explain() {
    if (!this.#settings.can_follow || byId("kind").value !== "cross") {
      this.#follow.clear();
      return;
    }
    const drawn = { layer: byId("layer").value, head: byId("head").value };
    this.#follow.show(this.#weights, this.#matrix, drawn, this.#chosen);
  }

  #ofHead(fetchHead, layer, head) {
    const name = `${layer}/${head}`;
    if (!this.#heads.has(name)) {
      const pieces = this.#attention.targets.map(({ raw }) => raw);
      const fetched = fetchHead(pieces, layer, head);
      this.#heads.set(name, fetched);
      fetched.catch(() => this.#heads.delete(name));
    }
    return this.#heads.get(name);
  }

  #mark() {
    const shown = this.#pointedAt ?? this.#chosen;
    this.#drawing.mark(shown);
    const words = shown ? summary(this.#weights, this.#matrix, shown) : [];
    byId("looked-at").replaceChildren(...words);
    // It never becomes lower again: at the end of the page, the drawing would move under the pointer.
    byId("words").style.minHeight = `${byId("words").offsetHeight}px`;
  }

  /** Say which translation the attention belongs to, unless it is the one that the page shows. */
  #showOther(best) {
    const { sources, translation } = this.#attention;
    const number = this.#settings.max_length;
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

/** Options for the average and each of `count`, counted from 1. */
function each(plural, name, count) {
  const numbers = Array.from({ length: count }, (_, i) => i);
  const options = numbers.map((i) => element("option", { value: i }, `${name} ${i + 1}`));
  return [element("option", { value: ALL }, `average of all ${plural}`), ...options];
}

/** Offer these options; what was chosen stays chosen where it is still offered. */
function offer(select, options) {
  if (select.options.length === options.length) return;
  const { value } = select;
  select.replaceChildren(...options);
  select.value = value;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
}

/** From which piece on a translation is another. */
function from(piece, code) {
  return piece.kind === "text"
    ? [" from ", element("b", { lang: languageOf(piece, code) }, piece.name), " on"]
    : [];
}

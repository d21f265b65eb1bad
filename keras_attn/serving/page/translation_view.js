import { copyBy } from "./clipboard.js";
import { byId, element } from "./element.js";

/** The translation, the other hypotheses of the search, and a button that copies the first. */
export class TranslationView {
  #lang;
  #announcer;
  #translation = byId("translation");
  #unsure = byId("unsure");
  #copy = byId("copy");
  #text = "";

  constructor(lang, announcer) {
    this.#lang = lang;
    this.#announcer = announcer;
    this.#translation.lang = lang;
    this.#copy.addEventListener("click", () => copyBy(this.#copy, this.#translation, announcer));
  }

  /** Show `[{text, score}, ...]`, best first, and whether the model is unsure of the best. */
  show({ hypotheses, isUncertain }) {
    const { text } = hypotheses[0];
    if (text !== this.#text || isUncertain === this.#unsure.hidden) this.#announce(text, isUncertain);
    this.#set(text);
    this.#unsure.hidden = !isUncertain;
    const items = hypotheses.map((hypothesis) => this.#item(hypothesis));
    byId("hypotheses").querySelector("ol").replaceChildren(...items);
    byId("hypotheses").hidden = items.length < 2;
    if (!text) this.#translation.replaceChildren(nothing());
  }

  /** Show the translation of the first sentences of a long text. */
  grow(text) {
    this.#set(text);
    this.#unsure.hidden = true;
    byId("hypotheses").hidden = true;
  }

  /** What the reader waits for, or "". */
  set progress(words) {
    byId("progress").textContent = words;
    this.#translation.setAttribute("aria-busy", String(words !== ""));
  }

  clear() {
    this.#set("");
    this.#unsure.hidden = true;
    byId("hypotheses").hidden = true;
  }

  #announce(text, isUncertain) {
    const hint = isUncertain ? [" ", this.#unsure.textContent] : [];
    this.#announcer.announce(element("span", { lang: this.#lang }, text), ...hint);
  }

  #set(text) {
    this.#text = text;
    this.#translation.textContent = text;
    this.#copy.disabled = !text;
  }

  #item({ text, score }) {
    const shown = text ? element("span", { lang: this.#lang }, text) : nothing();
    const number = score === null ? "" : score.toFixed(2).replace("-", "−");
    const label = element("span", { class: "visually-hidden" }, "score ");
    return element("li", {}, shown, " ", element("span", { class: "score" }, label, number));
  }
}

function nothing() {
  return element("span", { class: "quiet" }, "(nothing)");
}

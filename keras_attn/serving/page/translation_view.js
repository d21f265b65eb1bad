import { copyBy } from "./clipboard.js";
import { byId, element } from "./element.js";

/**
 * The translation, a remark on it, the other hypotheses of the search, and a button that copies the
 * first.
 */
export class TranslationView {
  #languages;
  #announcer;
  #translation = byId("translation");
  #remark = byId("remark");
  #copy = byId("copy");
  #text = "";

  /** `languages` is `{source, target}`, each `{code, name}`. */
  constructor(languages, announcer) {
    this.#languages = languages;
    this.#announcer = announcer;
    this.#copy.addEventListener("click", () => copyBy(this.#copy, this.#translation, announcer));
  }

  /** Show the result of `Model.nbest`. */
  show({ hypotheses, isUncertain, isOtherLanguage }) {
    const { text } = hypotheses[0];
    const lang = isOtherLanguage ? "" : this.#languages.target.code; // "" is an unknown language
    const remark = this.#remarkOn(isUncertain, isOtherLanguage);
    if (text !== this.#text || remark !== this.#remark.textContent) {
      const hint = remark ? [" ", remark] : [];
      this.#announcer.announce(element("span", { lang }, text), ...hint);
    }
    this.#set(text, remark, lang);
    const items = hypotheses.map((hypothesis) => this.#item(hypothesis));
    byId("hypotheses").querySelector("ol").replaceChildren(...items);
    byId("hypotheses").hidden = new Set(hypotheses.map((one) => one.text)).size < 2;
    if (!text) this.#translation.replaceChildren(nothing());
  }

  /** Show the translation of the first sentences of a long text. */
  grow(text) {
    this.#set(text);
    byId("hypotheses").hidden = true;
  }

  /** What the reader waits for, or "". */
  set progress(words) {
    byId("progress").textContent = words;
    this.#translation.setAttribute("aria-busy", String(words !== ""));
  }

  clear() {
    this.#set("");
    byId("hypotheses").hidden = true;
  }

  #remarkOn(isUncertain, isOtherLanguage) {
    if (isOtherLanguage) {
      return `This text is not in ${this.#languages.source.name}; it is returned as given.`;
    }
    return isUncertain ? "The model is not sure of this translation." : "";
  }

  #set(text, remark = "", lang = this.#languages.target.code) {
    this.#text = text;
    this.#translation.lang = lang;
    this.#translation.textContent = text;
    this.#remark.textContent = remark;
    this.#remark.hidden = !remark;
    this.#copy.disabled = !text;
  }

  #item({ text, score }) {
    const shown = text ? element("span", { lang: this.#languages.target.code }, text) : nothing();
    const number = score === null ? "" : score.toFixed(2).replace("-", "−");
    const label = element("span", { class: "visually-hidden" }, "score ");
    return element("li", {}, shown, " ", element("span", { class: "score" }, label, number));
  }
}

function nothing() {
  return element("span", { class: "quiet" }, "(nothing)");
}

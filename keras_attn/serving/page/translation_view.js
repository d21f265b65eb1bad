import { byId, element } from "./element.js";

const SAID_COPIED = 2000; // milliseconds

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
    this.#copy.addEventListener("click", () => this.#copied());
  }

  /** Show `[{text, score}, ...]`, best first, and whether the model is not sure of the best. */
  show({ hypotheses, isUncertain }) {
    const { text } = hypotheses[0];
    if (text !== this.#text || isUncertain === this.#unsure.hidden) this.#say(text, isUncertain);
    this.#set(text);
    this.#unsure.hidden = !isUncertain;
    const items = hypotheses.map((hypothesis) => this.#item(hypothesis));
    byId("hypotheses").querySelector("ol").replaceChildren(...items);
    byId("hypotheses").hidden = items.length < 2;
    if (!text) this.#translation.replaceChildren(nothing());
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

  #say(text, isUncertain) {
    const hint = isUncertain ? [" ", this.#unsure.textContent] : [];
    this.#announcer.say(element("span", { lang: this.#lang }, text), ...hint);
  }

  #set(text) {
    this.#text = text;
    this.#translation.textContent = text;
    this.#copy.disabled = !text;
  }

  #item({ text, score }) {
    const said = text ? element("span", { lang: this.#lang }, text) : nothing();
    const number = score === null ? "" : score.toFixed(2).replace("-", "−");
    const label = element("span", { class: "visually-hidden" }, "score ");
    return element("li", {}, said, " ", element("span", { class: "score" }, label, number));
  }

  async #copied() {
    await copy(this.#translation);
    this.#announcer.say("Copied.");
    this.#copy.textContent = "Copied";
    setTimeout(() => {
      this.#copy.textContent = "Copy";
    }, SAID_COPIED);
  }
}

function nothing() {
  return element("span", { class: "quiet" }, "(nothing)");
}

async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
  } catch {
    // Browsers give the clipboard to pages of https or of this machine alone; a selection can always
    // be copied.
    const selection = getSelection();
    selection.selectAllChildren(node);
    document.execCommand("copy");
    selection.removeAllRanges();
  }
}

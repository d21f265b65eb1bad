import { byId, element } from "./element.js";
import { sentences } from "./sentences.js";

const MOST = 40; // characters of a sentence in the list

/**
 * The choice of the sentence whose attention is shown: attention belongs to a sentence, because a
 * text is translated sentence by sentence. Not shown for a text of at most one sentence.
 */
export class SentenceChoice {
  #code;
  #select = byId("sentence");
  #sentences = [];

  /** `code` is the language of the text. */
  constructor(code) {
    this.#code = code;
  }

  /** Offer the sentences of `text`; a sentence that is still at its place stays chosen. */
  offer(text) {
    const before = this.chosen;
    const { selectedIndex } = this.#select;
    this.#sentences = sentences(text, this.#code);
    const options = this.#sentences.map((sentence, i) =>
      element("option", { value: i, lang: this.#code }, `${i + 1}: ${beginning(sentence)}`),
    );
    this.#select.replaceChildren(...options);
    if (before && before === this.#sentences[selectedIndex]) {
      this.#select.selectedIndex = selectedIndex;
    }
    byId("sentence-choice").hidden = this.isOnly;
  }

  /** The chosen sentence; undefined if there is none. */
  get chosen() {
    return this.#sentences[this.#select.selectedIndex];
  }

  /** Whether the text has no other sentence. */
  get isOnly() {
    return this.#sentences.length < 2;
  }
}

function beginning(sentence) {
  const characters = [...sentence];
  return characters.length > MOST ? `${characters.slice(0, MOST).join("")} …` : sentence;
}

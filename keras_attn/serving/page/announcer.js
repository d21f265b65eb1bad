import { element } from "./element.js";

const STILL = 1000; // milliseconds without news before any is said

/**
 * Tells a screen reader what changed, once it has stopped changing: a translation that follows the
 * typing would talk without end.
 */
export class Announcer {
  #region;
  #timer = 0;

  constructor(region) {
    this.#region = region;
  }

  /** Say `text`, in the language `lang`, unless something else is to be said soon. */
  say(text, lang = "en") {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#region.replaceChildren(element("span", { lang }, text));
    }, STILL);
  }
}

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

  /** Say these strings of English and elements, unless something else is to be said soon. */
  say(...parts) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#region.replaceChildren(...parts), STILL);
  }
}

const STILL = 1000; // milliseconds without a change before the last change is announced

/**
 * Announces changes to a screen reader once they have stopped: a translation that follows the typing
 * would talk without end.
 */
export class Announcer {
  #region;
  #timer = 0;

  constructor(region) {
    this.#region = region;
  }

  /** Announce English strings and elements, unless another announcement follows soon. */
  announce(...parts) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#region.replaceChildren(...parts), STILL);
  }
}

import { element } from "./element.js";

/** An error message next to what it concerns. */
export class Problem {
  #box;
  #message = "";

  constructor(box) {
    this.#box = box;
  }

  /** Show `message`, with a button where `again` can be tried. */
  show(message, again = null) {
    if (message === this.#message) return; // a screen reader would read it out again
    this.#message = message;
    const parts = [element("span", {}, message)];
    if (again) {
      const button = element("button", { type: "button" }, "Try again");
      button.addEventListener("click", again);
      parts.push(button);
    }
    this.#box.replaceChildren(...parts);
  }

  clear() {
    this.#message = "";
    this.#box.replaceChildren();
  }
}

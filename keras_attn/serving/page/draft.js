/**
 * The text field. Ctrl-Z undoes what the page writes, Back leads to the text before it, and the text
 * survives when the page is loaded again. A text may come in the address, behind the #, which browsers
 * do not send to servers.
 */

const PAUSE = 250; // milliseconds without typing before a draft is requested

export class Draft {
  #field;
  #changed;

  /** `changed(pause)` is called after each change; `pause` is null while an input method composes. */
  constructor(field, changed) {
    this.#field = field;
    this.#changed = changed;
    // Half-composed kana are not text yet.
    field.addEventListener("input", ({ isComposing }) => changed(isComposing ? null : PAUSE));
    field.addEventListener("compositionend", () => changed(PAUSE));
    addEventListener("popstate", () => this.open(""));
    addEventListener("pagehide", () => this.keep());
  }

  get text() {
    return this.#field.value;
  }

  /** Show the text of this visit, else that of a link, else `example`. */
  open(example) {
    this.#field.value = history.state?.text ?? (sharedText() || example);
    this.#changed(0);
  }

  /** Replace the text, as a new step of undo and of Back. */
  write(text) {
    this.keep();
    history.pushState({ text }, "", addressOf(""));
    const focused = document.activeElement;
    this.#field.inputMode = "none"; // no keyboard comes up on a phone
    this.#field.focus({ preventScroll: true });
    this.#field.select();
    // No other way of writing can be undone by Ctrl-Z.
    document.execCommand(text ? "insertText" : "delete", false, text);
    if (this.text !== text) this.#field.value = text; // the browser refused
    focused.focus({ preventScroll: true });
    this.#field.inputMode = "text";
    this.#changed(0);
  }

  /** Remember the text for this step of Back; a link in the address that is no longer it goes. */
  keep() {
    const { text } = this;
    history.replaceState({ text }, "", addressOf(text === sharedText() ? text : ""));
  }
}

/** The address of this page with a text. */
export function addressOf(text) {
  const address = new URL(location.href);
  address.hash = encodeURIComponent(text.toWellFormed?.() ?? text);
  return address.href;
}

/** The text in the address of this page; "" without one. */
function sharedText() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // cut off in the middle of a character
  }
}

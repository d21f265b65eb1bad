import { element } from "./element.js";
import { languageOf } from "./pieces.js";
import { inList, rove } from "./roving.js";

/**
 * The probability of each piece of a translation and, for a chosen piece, the alternatives of the
 * model. `continueFrom(place, piece)` is called with the alternative that the reader chooses.
 */
export class Alternatives {
  #box;
  #code;
  #continueFrom;
  #attention = null;
  #pieces = []; // a button for each target piece
  #panel = element("div", { class: "instead", id: "instead" });

  constructor(box, { code }, continueFrom) {
    this.#box = box;
    this.#code = code;
    this.#continueFrom = continueFrom;
    this.#panel.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      const opened = this.#pieces.find(isOpen);
      this.#open(null);
      opened.focus(); // the button that had the focus is gone
    });
  }

  /** Show the probabilities of these pieces, if the model gives them. */
  show(attention) {
    this.#attention = attention;
    this.#box.hidden = attention.options === null;
    this.#pieces = (attention.options ?? []).map(({ probability }, place) =>
      this.#piece(attention.targets[place], probability, place),
    );
    const list = element("ol", { class: "shares" }, ...inItems(this.#pieces));
    if (this.#pieces.length) rove(list, this.#pieces, inList(this.#pieces.length));
    this.#panel.replaceChildren();
    this.#box.querySelector(".shown").replaceChildren(list, this.#panel);
  }

  focus(place) {
    this.#pieces[Math.min(place, this.#pieces.length - 1)]?.focus();
  }

  #piece(piece, probability, place) {
    const button = this.#button(piece, probability);
    button.setAttribute("aria-expanded", "false");
    button.setAttribute("aria-controls", this.#panel.id);
    button.addEventListener("click", () => this.#open(isOpen(button) ? null : place));
    return button;
  }

  #open(place) {
    this.#pieces.forEach((one, i) => one.setAttribute("aria-expanded", String(i === place)));
    if (place === null) {
      this.#panel.replaceChildren();
      return;
    }
    const chosen = this.#attention.targets[place];
    const buttons = this.#attention.options[place].alternatives.map(({ piece, probability }) => {
      const button = this.#button(piece, probability);
      if (piece.raw === chosen.raw) {
        button.setAttribute("aria-current", "true");
        button.disabled = true;
      } else {
        button.addEventListener("click", () => this.#continueFrom(place, piece));
      }
      return button;
    });
    const label = element(
      "h4",
      { id: "instead-label" },
      "Instead of ",
      element("b", {}, ...named(chosen, this.#code)),
      ", the model could have written",
    );
    const list = element("ol", { class: "shares", "aria-labelledby": label.id });
    list.append(...inItems(buttons));
    const others = buttons.filter((button) => !button.disabled);
    if (others.length) rove(list, others, inList(others.length));
    this.#panel.replaceChildren(label, list);
  }

  #button(piece, probability) {
    const share = element("span", { class: "share" }, percent(probability));
    const button = element("button", { type: "button" }, ...named(piece, this.#code), " ", share);
    button.style.setProperty("--weight", probability);
    return button;
  }
}

/** The piece as it is drawn, with a name for screen readers where it is not text. */
function named(piece, code) {
  const drawn = element("span", { lang: languageOf(piece, code), class: piece.kind }, piece.text);
  if (piece.kind === "text") return [drawn];
  drawn.setAttribute("aria-hidden", "true");
  return [drawn, element("span", { class: "visually-hidden" }, piece.name)];
}

function percent(probability) {
  return probability < 0.005 ? "<1%" : `${Math.round(100 * probability)}%`;
}

function isOpen(button) {
  return button.getAttribute("aria-expanded") === "true";
}

function inItems(buttons) {
  return buttons.map((button) => element("li", {}, button));
}

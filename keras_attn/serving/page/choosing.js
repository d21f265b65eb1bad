/**
 * Make elements of `container` ways to choose: `choices` maps each to the `{target, source}` that it
 * stands for. A pointer over one calls `pointAt`, with null when it is gone; focus, so also a touch,
 * calls `choose`, and Escape or a click elsewhere takes the choice back.
 */
export function trackPointer(container, choices, { choose, pointAt }) {
  const choiceOf = (node) => {
    for (let at = node; at && at !== container; at = at.parentElement) {
      if (choices.has(at)) return choices.get(at);
    }
    return null;
  };
  container.addEventListener("pointerover", (event) => pointAt(choiceOf(event.target)));
  container.addEventListener("pointerleave", () => pointAt(null));
  container.addEventListener("focusin", (event) => choose(choiceOf(event.target)));
  container.addEventListener("click", (event) => {
    if (!choiceOf(event.target)) choose(null);
  });
  container.addEventListener("keydown", (event) => {
    if (event.key === "Escape") choose(null);
  });
}

/** Whether two choices, or null for none, are the same. */
export function sameChoice(one, other) {
  return one?.target === other?.target && one?.source === other?.source;
}

/**
 * Arrow keys among `items`, of which one at a time is reached by Tab (roving tabindex, as the ARIA
 * Authoring Practices have it). `next(key, i)` is the number of the item that a key leads to from
 * the i-th, or undefined where the key has no meaning.
 */
export function rove(container, items, next) {
  const numbers = new Map(items.map((item, i) => [item, i]));
  let current = items[0];
  for (const item of items) item.tabIndex = item === current ? 0 : -1;

  container.addEventListener("focusin", (event) => {
    if (!numbers.has(event.target)) return;
    current.tabIndex = -1;
    current = event.target;
    current.tabIndex = 0;
  });
  container.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = numbers.has(event.target) ? next(event.key, numbers.get(event.target)) : undefined;
    if (to === undefined) return;
    event.preventDefault(); // or the page scrolls
    items[Math.max(0, Math.min(items.length - 1, to))].focus();
  });
}

/** Keys in a list, which may run across or down. */
export function inList(length) {
  return (key, i) =>
    ({
      ArrowLeft: i - 1,
      ArrowUp: i - 1,
      ArrowRight: i + 1,
      ArrowDown: i + 1,
      Home: 0,
      End: length - 1,
    })[key];
}

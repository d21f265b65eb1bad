/** A text in the address of the page, behind the #, which browsers do not send to servers. */

/** The address of this page with a text. */
export function addressOf(text) {
  const address = new URL(location.href);
  address.hash = encodeURIComponent(text.toWellFormed?.() ?? text);
  return address.href;
}

/** The text in the address of this page; "" without one. */
export function sharedText() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return ""; // cut off in the middle of a character
  }
}

const SHOWN_COPIED = 2000; // milliseconds

/** Copy the text of an element that is on the page, and confirm it on the button that was pressed. */
export async function copyBy(button, node, announcer) {
  await copy(node);
  announcer.announce("Copied.");
  button.dataset.label ??= button.textContent;
  button.textContent = "Copied";
  setTimeout(() => {
    button.textContent = button.dataset.label;
  }, SHOWN_COPIED);
}

async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
  } catch {
    // Browsers give the clipboard to pages of https or of this machine alone; a selection can always
    // be copied.
    const selection = getSelection();
    selection.selectAllChildren(node);
    document.execCommand("copy");
    selection.removeAllRanges();
  }
}

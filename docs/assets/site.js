// What the theme makes is changed in the browser, where it is complete.
document$.subscribe(() => {
  // Boxes that scroll can be reached by keyboard.
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code, math[display=block]")) {
    box.tabIndex = 0;
  }
  // Each landmark has a name of its own. The table of contents of a page is there twice.
  for (const menu of document.querySelectorAll(".md-nav[aria-labelledby]")) {
    menu.removeAttribute("aria-labelledby");
    menu.ariaLabel = menu.querySelector(".md-nav__title").textContent.trim();
  }
  for (const contents of document.querySelectorAll(".md-sidebar--primary .md-nav--secondary")) {
    contents.ariaLabel = "Table of contents in the menu";
  }
  // The corner of a table is not a header of anything.
  for (const corner of document.querySelectorAll("th:empty")) {
    corner.replaceWith(document.createElement("td"));
  }
});
// Buttons of code blocks come later.
new MutationObserver(() => {
  document.querySelectorAll("nav.md-code__nav").forEach((buttons, i) => {
    buttons.ariaLabel = `Buttons of code block ${i + 1}`;
  });
}).observe(document.body, { childList: true, subtree: true });

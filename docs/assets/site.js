// Boxes that scroll can be reached by keyboard. The theme makes those around tables in the browser.
document$.subscribe(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code, math[display=block]")) {
    box.tabIndex = 0;
  }
});

// What the theme makes is changed in the browser, where it is complete.
document$.subscribe(() => {
  // Boxes that scroll can be reached by keyboard.
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, pre > code, math[display=block]")) {
    box.tabIndex = 0;
  }
  // The table of contents of a page is there twice; each landmark needs a name of its own.
  for (const contents of document.querySelectorAll(".md-sidebar--primary .md-nav--secondary")) {
    contents.ariaLabel = "Table of contents in the menu";
  }
});

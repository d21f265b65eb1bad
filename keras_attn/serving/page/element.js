/** Elements of the page. Text is set as text, never as markup, so nothing that is shown can run. */

const SVG = "http://www.w3.org/2000/svg";

/** An element of HTML with these attributes and children; strings become text. */
export function element(tag, attributes = {}, ...children) {
  return withContent(document.createElement(tag), attributes, children);
}

/** The same, of SVG. */
export function drawing(tag, attributes = {}, ...children) {
  return withContent(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id);
}

function withContent(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

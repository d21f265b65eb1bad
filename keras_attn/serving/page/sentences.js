/** The sentences of a text, without the white space around them; a line break ends a sentence. */
export function sentences(text, code) {
  return Array.from(segmenter(code).segment(text), ({ segment }) => segment.trim()).filter(Boolean);
}

function segmenter(code) {
  try {
    return new Intl.Segmenter(code, { granularity: "sentence" });
  } catch {
    return new Intl.Segmenter("en", { granularity: "sentence" }); // no code of a language
  }
}

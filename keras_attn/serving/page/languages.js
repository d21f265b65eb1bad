/** The name of the language of a code, in the language of `inLanguage`; the code where unknown. */
export function languageName(code, inLanguage = "en") {
  try {
    return new Intl.DisplayNames([inLanguage], { type: "language" }).of(code);
  } catch {
    return code; // no code of a language: a model may be named anything
  }
}

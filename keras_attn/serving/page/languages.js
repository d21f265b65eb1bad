/** Names of languages, and sentences to try in them. */

const SENTENCES = {
  ja: [
    "昨日、友達と映画を見ました。",
    "雨が降りそうだから、傘を持って行きなさい。",
    "この町には古い橋が二つある。",
  ],
  en: [
    "I watched a movie with my friends yesterday.",
    "It looks like rain, so take an umbrella.",
    "There are two old bridges in this town.",
  ],
};

/** The name of the language of a code, in the language of `inLanguage`; the code where unknown. */
export function languageName(code, inLanguage = "en") {
  try {
    return new Intl.DisplayNames([inLanguage], { type: "language" }).of(code);
  } catch {
    return code; // no code of a language: a model may be named anything
  }
}

/** Sentences to try. */
export function exampleSentences(code) {
  return SENTENCES[code] ?? [];
}

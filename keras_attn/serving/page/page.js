/** The page: follows what is written, asks the server, and shows its answers. */

import { Announcer } from "./announcer.js";
import { Attention } from "./attention.js";
import { AttentionView } from "./attention_view.js";
import { copyBy } from "./clipboard.js";
import { byId, element } from "./element.js";
import { languageName } from "./languages.js";
import { Latest } from "./latest.js";
import { Problem } from "./problem.js";
import { program } from "./program.js";
import { SentenceChoice } from "./sentence_choice.js";
import { sentences } from "./sentences.js";
import { ADDRESS, Model, readSettings } from "./server.js";
import { addressOf, sharedText } from "./shared_text.js";
import { TranslationView } from "./translation_view.js";

const PAUSE = 250; // milliseconds without typing before the server is asked
const PAUSE_COMPOSING = 1000; // while an input method still offers other characters for the last ones
const MANY = 10; // sentences of a text that is translated sentence by sentence

const source = byId("source");
const problem = new Problem(byId("problem"));
const asked = new URLSearchParams(location.search).get("model");
const settings = await readSettings(asked).catch((error) => {
  problem.show(error.message, () => location.reload());
  throw error;
});
const languages = { source: language(settings.source), target: language(settings.target) };
const model = new Model(settings);
const announcer = new Announcer(byId("announcement"));
const translationView = new TranslationView(languages, announcer);
const attentionProblem = new Problem(byId("attention-problem"));
const sentenceChoice = new SentenceChoice(settings.source);
const attentionView = new AttentionView(languages, settings.max_length, continueFrom);
const latest = new Latest();
let timer = 0;
let shown = null; // {text, best, attended} of the translation that is shown; `attended` is a sentence

introduce();
listen();
source.value = sharedText() || source.value; // or what the browser kept when the page was loaded again
onInput(0);

function language(code) {
  return { code, name: languageName(code) };
}

function introduce() {
  const own = (code) => element("span", { lang: code }, languageName(code, code));
  byId("title").replaceChildren(own(settings.source), " → ", own(settings.target));
  byId("title").setAttribute("aria-label", `${languages.source.name} to ${languages.target.name}`);
  document.title = `${languages.source.name} to ${languages.target.name} · ${settings.name}`;
  byId("model").textContent = `${settings.name}, version ${settings.version}`;
  byId("models").replaceChildren(...settings.models.map(modelLink));
  byId("models").hidden = settings.models.length < 2;
  byId("source-label").textContent = languages.source.name;
  byId("target-label").textContent = languages.target.name;
  source.lang = settings.source;
  byId("examples").append(...settings.examples.map(example));
  byId("examples").hidden = !settings.examples.length;
  byId("facts").replaceChildren(
    ...Object.entries(settings.facts).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, String(value)),
    ]),
  );
}

function modelLink(name) {
  const isShown = name === settings.name ? { "aria-current": "page" } : {};
  return element("a", { href: `?model=${encodeURIComponent(name)}`, ...isShown }, name);
}

function example(sentence) {
  const button = element("button", { type: "button", lang: settings.source }, sentence);
  button.addEventListener("click", () => write(sentence));
  return element("li", {}, button);
}

function listen() {
  source.addEventListener("input", (event) => onInput(event.isComposing ? PAUSE_COMPOSING : PAUSE));
  source.addEventListener("compositionend", () => onInput(PAUSE));
  byId("clear").addEventListener("click", () => {
    write("");
    source.focus(); // the button that had the focus is disabled
  });
  byId("share").addEventListener("click", share);
  byId("attention").addEventListener("toggle", () => {
    // A running translation checks at its end whether the section is open.
    if (shown && !latest.running) latest.run(attend, attentionFailed);
  });
  byId("sentence").addEventListener("change", () => onInput(0));
}

function write(text) {
  source.value = text;
  onInput(0);
}

function share() {
  byId("link").textContent = addressOf(source.value);
  copyBy(byId("share"), byId("link"), announcer);
}

/** Translate the text, if it does not change for `pause` milliseconds. */
function onInput(pause) {
  const text = source.value;
  clearTimeout(timer);
  latest.stop(); // its answer would be of an older text
  translationView.progress = "";
  byId("clear").disabled = !text;
  byId("share").disabled = !text.trim();
  const snippets = program(ADDRESS, settings.name, text || settings.examples[0] || "");
  for (const [name, snippet] of Object.entries(snippets)) byId(name).textContent = snippet;
  if (!isRightLength(text)) return;
  if (text.trim()) timer = setTimeout(() => latest.run((signal) => translate(text, signal), failed), pause);
  else clear();
}

function isRightLength(text) {
  const [length, limit] = [[...text].length, settings.max_characters];
  const isTooLong = length > limit;
  byId("count").textContent = `${number(length)} / ${number(limit)}`;
  source.setAttribute("aria-invalid", String(isTooLong));
  if (isTooLong) {
    // Not how long it is: a screen reader would read that out after each letter.
    problem.show(`The text is too long: ${number(limit)} characters can be translated at once.`);
  } else {
    problem.clear();
  }
  return !isTooLong;
}

function number(count) {
  return count.toLocaleString("en");
}

function clear() {
  shown = null;
  translationView.clear();
  attentionView.clear();
  attentionProblem.clear();
}

async function translate(text, signal) {
  // It may have been changed and changed back.
  if (text !== shown?.text) {
    translationView.progress = "Translating …";
    attentionView.stale = true;
    const isLong = settings.can_stream && sentences(text, settings.source).length >= MANY;
    const answer = await (isLong ? stream(text, signal) : model.nbest(text, { signal, waiting }));
    if (signal.aborted) return;
    translationView.progress = "";
    translationView.show(answer);
    sentenceChoice.offer(answer.isOtherLanguage ? "" : text); // there is no attention to choose
    shown = { text, best: answer.hypotheses[0].text, attended: null };
  }
  await attend(signal).catch((error) => {
    if (!signal.aborted) attentionFailed(error);
  });
}

/** Translate a long text and show what is there of the translation. */
function stream(text, signal) {
  const grown = (translation) => {
    if (signal.aborted) return;
    if (shown) clear(); // the attention belongs to another text
    translationView.grow(translation);
  };
  return model.stream(text, grown, { signal, waiting });
}

async function attend(signal) {
  if (!byId("attention").open) return;
  const sentence = sentenceChoice.chosen;
  if (!sentence) {
    attentionProblem.clear();
    attentionView.showNone();
    return;
  }
  if (shown.attended === sentence) {
    attentionView.stale = false;
    return;
  }
  attentionView.stale = true;
  const attended = await model.attend(sentence, { signal, waiting });
  if (signal.aborted) return;
  attentionProblem.clear();
  translationView.progress = "";
  attentionView.show(new Attention(attended, languages), sentenceChoice.isOnly ? shown.best : null);
  shown.attended = sentence;
}

/** Continue the translation after these pieces, the last of which was chosen. */
function continueFrom(pieces) {
  const go = async (signal) => {
    attentionView.stale = true;
    const answer = await model.continueFrom(shown.attended, pieces, { signal, waiting });
    if (signal.aborted) return;
    attentionProblem.clear();
    translationView.progress = "";
    const attention = new Attention(answer, languages);
    attentionView.showAlternative(attention, pieces.length - 1);
    const translation = element("span", { lang: settings.target }, answer.translation);
    announcer.announce("Another translation: ", translation);
  };
  latest.run(go, (error) => {
    attentionView.stale = false; // the pieces that one can choose from stay
    attentionFailed(error, () => continueFrom(pieces));
  });
}

function waiting(seconds) {
  translationView.progress = `The server is busy; it is asked again in ${seconds} s.`;
}

function failed(error) {
  translationView.progress = "";
  attentionView.stale = false; // it belongs to the translation, which stays, too
  problem.show(error.message, () => {
    source.focus(); // the button that had the focus is removed
    onInput(0);
  });
}

function attentionFailed(error, again = () => latest.run(attend, attentionFailed)) {
  translationView.progress = "";
  attentionProblem.show(error.message, () => {
    byId("attention").querySelector("summary").focus();
    again();
  });
}

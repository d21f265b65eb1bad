/** The page: sends what is typed to the server, and shows the translations. */

import { Announcer } from "./announcer.js";
import { Attention } from "./attention.js";
import { AttentionView } from "./attention_view.js";
import { copyBy } from "./clipboard.js";
import { addressOf, Draft } from "./draft.js";
import { byId, element } from "./element.js";
import { languageName } from "./languages.js";
import { Latest } from "./latest.js";
import { Problem } from "./problem.js";
import { program } from "./program.js";
import { SentenceChoice } from "./sentence_choice.js";
import { sentences } from "./sentences.js";
import { ADDRESS, Model, readSettings } from "./server.js";
import { TranslationView } from "./translation_view.js";

const MANY = 10; // sentences of a text that is translated sentence by sentence

const problem = new Problem(byId("problem"));
const wanted = new URLSearchParams(location.search).get("model");
const settings = await readSettings(wanted, waiting).catch((error) => {
  document.querySelector("main").hidden = false;
  problem.show(error.message, () => location.reload());
  throw error;
});
problem.clear();
const languages = { source: language(settings.source), target: language(settings.target) };
const model = new Model(settings);
const announcer = new Announcer(byId("announcement"));
const translationView = new TranslationView(languages, announcer);
const attentionProblem = new Problem(byId("attention-problem"));
const sentenceChoice = new SentenceChoice(settings.source);
const attentionView = new AttentionView(languages, settings, { continueFrom, ofHead });
const latest = new Latest();
const draft = new Draft(byId("source"), onInput);
const first = settings.examples[0] ?? "";
let timer = 0;
let shown = null; // {text, best, attended} of the translation that is shown; `attended` is a sentence

introduce();
listen();
draft.open(first);

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
  byId("source").lang = settings.source;
  byId("examples").querySelector("ul").append(...settings.examples.map(example));
  byId("facts").replaceChildren(
    ...Object.entries(settings.facts).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, String(value)),
    ]),
  );
  const links = Object.entries(settings.links).map(([name, href]) => element("a", { href }, name));
  byId("links").prepend(...links);
  document.querySelector("main").hidden = false;
}

function modelLink(name) {
  const isShown = name === settings.name ? { "aria-current": "page" } : {};
  return element("a", { href: `?model=${encodeURIComponent(name)}`, ...isShown }, name);
}

function example(sentence) {
  const button = element("button", { type: "button", lang: settings.source }, sentence);
  button.addEventListener("click", () => {
    draft.write(sentence);
    byId("source").scrollIntoView({ block: "nearest" });
  });
  return element("li", {}, button);
}

function listen() {
  byId("clear").addEventListener("click", () => {
    draft.write("");
    byId("source").focus(); // the button that had the focus is disabled
  });
  byId("share").addEventListener("click", () => {
    byId("link").textContent = addressOf(draft.text);
    copyBy(byId("share"), byId("link"), announcer);
  });
  byId("sentence").addEventListener("change", () => onInput(0));
}

/** Translate the text, if it does not change for `pause` milliseconds; null is for ever. */
function onInput(pause) {
  const { text } = draft;
  clearTimeout(timer);
  latest.stop(); // its answer would be of an older text
  translationView.progress = "";
  byId("clear").disabled = !text;
  byId("clear").textContent = text && text === first ? "Type your own" : "Clear";
  byId("share").disabled = !text.trim();
  const snippets = program(ADDRESS, settings.name, text || first);
  for (const [name, snippet] of Object.entries(snippets)) byId(name).textContent = snippet;
  if (!isRightLength(text) || pause === null) return;
  if (text.trim()) timer = setTimeout(() => latest.run((signal) => translate(text, signal), failed), pause);
  else clear();
}

function isRightLength(text) {
  const [length, limit] = [[...text].length, settings.max_characters];
  const isTooLong = length > limit;
  byId("count").textContent = `${number(length)} / ${number(limit)}`;
  byId("source").setAttribute("aria-invalid", String(isTooLong));
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
  draft.keep();
  translationView.clear();
  announcer.announce(); // nothing of a text that is gone
  attentionView.clear();
  attentionProblem.clear();
  settle();
}

/** Show what is below the drawing, which would jump before the first answer. */
function settle() {
  document.body.classList.add("settled");
  byId("examples").hidden = !settings.examples.length;
}

async function translate(text, signal) {
  draft.keep();
  // It may have been changed and changed back.
  if (text !== shown?.text) {
    translationView.progress = "Translating …";
    attentionView.stale = true;
    const isLong = settings.can_stream && sentences(text, settings.source).length >= MANY;
    const response = await (isLong ? stream(text, signal) : model.nbest(text, { signal, waiting }));
    if (signal.aborted) return;
    succeeded();
    translationView.show(response);
    sentenceChoice.offer(response.isOtherLanguage ? "" : text); // there is no attention to choose
    shown = { text, best: response.hypotheses[0].text, attended: null };
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
  const sentence = sentenceChoice.chosen;
  if (!sentence) {
    attentionProblem.clear();
    attentionView.showNone();
    settle();
    return;
  }
  if (shown.attended === sentence) {
    attentionView.stale = false;
    return;
  }
  attentionView.stale = true;
  const attended = await model.attend(sentence, { signal, waiting });
  if (signal.aborted) return;
  succeeded();
  settle(); // before the drawing, which keeps its height
  attentionView.show(new Attention(attended, languages), sentenceChoice.isOnly ? shown.best : null);
  shown.attended = sentence;
  performance.mark("drawn");
}

/** Continue the translation after these pieces, the last of which was chosen. */
function continueFrom(pieces) {
  const go = async (signal) => {
    attentionView.stale = true;
    const response = await model.continueFrom(shown.attended, pieces, { signal, waiting });
    if (signal.aborted) return;
    succeeded();
    const attention = new Attention(response, languages);
    attentionView.showAlternative(attention, pieces.length - 1);
    const translation = element("span", { lang: settings.target }, response.translation);
    announcer.announce("Another translation: ", translation);
  };
  latest.run(go, (error) => {
    attentionView.stale = false; // the pieces that one can choose from stay
    attentionFailed(error, () => continueFrom(pieces));
  });
}

/** What a head of cross-attention computes with, for the translation in these pieces. */
function ofHead(pieces, layer, head) {
  return model.head(shown.attended, pieces, layer, head, { waiting });
}

function waiting({ busy, down, seconds }) {
  const again = `Next try in ${seconds} s.`;
  if (down) problem.show(`${down} The page tries again by itself.`);
  document.querySelector("main").hidden = false;
  byId("progress").textContent = busy ? `${busy} ${again}` : again;
}

function succeeded() {
  translationView.progress = "";
  problem.clear();
  attentionProblem.clear();
}

function failed(error) {
  translationView.progress = "";
  attentionView.stale = false; // it belongs to the translation, which stays, too
  problem.show(error.message, () => {
    byId("source").focus(); // the button that had the focus is removed
    onInput(0);
  });
  settle();
}

function attentionFailed(error, again = () => latest.run(attend, attentionFailed)) {
  translationView.progress = "";
  attentionProblem.show(error.message, () => {
    byId("attention-problem").focus(); // the button that had the focus is removed
    again();
  });
  settle();
}

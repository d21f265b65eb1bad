/**
 * Requests to the server that this page came from: TensorFlow Serving's REST API, and the stream of a
 * long text.
 */

import { readEvents } from "./events.js";

const TRIES = 5; // for a busy server; there is no limit for one that is down
const LONGEST_WAIT = 30; // seconds
const NAMES = { 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" };
const JSON_BODY = { "Content-Type": "application/json" };

// Found from this module, so that the page works under any path of a proxy.
const PAGE = new URL(".", import.meta.url).pathname.replace(/\/$/, "");
const SERVER = PAGE.replace(/\/page$/, "");

/** The address of the server. */
export const ADDRESS = location.origin + SERVER;

/** An error whose message is a sentence for the reader. */
export class ServerError extends Error {}

/**
 * Settings of the page: `{name, version, source, target, max_characters, max_length, examples, facts,
 * links, models, can_stream, can_follow}`, of the model with that name, or of the first model of the server.
 */
export async function readSettings(name, waiting) {
  const query = name ? `?model=${encodeURIComponent(name)}` : "";
  return answered(await fetchWithRetry(`${PAGE}/settings.json${query}`, {}, waiting));
}

/**
 * The model of these settings. `signal` aborts a request; `waiting({busy, down, seconds})` is called
 * before each wait for a server that is busy or down, with a sentence for the reader in one of them.
 */
export class Model {
  #url;
  #pair;

  constructor({ name, source, target }) {
    this.#url = `${SERVER}/v1/models/${encodeURIComponent(name)}:predict`;
    this.#pair = { source, target };
  }

  /**
   * `{hypotheses, isUncertain, isOtherLanguage}`: `[{text, score}, ...]`, best first, whether the model
   * is unsure of the best, and whether the text is in another language and is returned as given. The
   * latter two are false for an older model, whose answers lack them.
   */
  async nbest(text, options) {
    const answer = await this.#predict("nbest", wellFormed(text), options);
    const hypotheses = answer.translations
      .map((translation, i) => ({ text: translation, score: answer.scores[i] }))
      .filter(({ score }, i) => i === 0 || score !== null); // the search found fewer
    return {
      hypotheses,
      isUncertain: answer.is_uncertain === true,
      isOtherLanguage: answer.is_other_language === true,
    };
  }

  /**
   * The result of `nbest` with one hypothesis, for a long text, which is translated sentence by
   * sentence. `grown(translation)` is called after each sentence.
   */
  async stream(text, grown, { signal, waiting }) {
    const body = JSON.stringify({ q: wellFormed(text), scores: true, ...this.#pair });
    const options = { method: "POST", headers: JSON_BODY, body, signal };
    const response = await fetchWithRetry(`${SERVER}/translate/stream`, options, waiting);
    if (!response.ok) return answered(response); // which throws
    let [translation, isUncertain, hasOther, hasTranslated] = ["", false, false, false];
    try {
      for await (const { name, data } of readEvents(response)) {
        if (name === "error") throw new ServerError(data.error);
        if (name === "done") {
          const hypotheses = [{ text: data.translatedText, score: null }];
          return { hypotheses, isUncertain, isOtherLanguage: hasOther && !hasTranslated };
        }
        translation += data.before + data.translation;
        isUncertain ||= data.isUncertain === true;
        if (data.isOtherLanguage === true) hasOther = true;
        else hasTranslated ||= data.translation !== data.source; // numbers are not a translation
        grown(translation);
      }
    } catch (error) {
      if (signal.aborted || error instanceof ServerError) throw error;
    }
    throw new ServerError("The server stopped before the end of the text.");
  }

  /**
   * `{translation, source_pieces, target_pieces, weights}` and, unless the model is older,
   * `{encoder_weights, decoder_weights, probabilities, alternatives, alternative_probabilities}`.
   */
  attend(text, options) {
    return this.#predict("attend", wellFormed(text), options);
  }

  /** The result of `attend` for the best translation that begins with these target pieces. */
  continueFrom(text, prefixPieces, options) {
    const instance = { text: wellFormed(text), prefix_pieces: prefixPieces };
    return this.#predict("continue", instance, options);
  }

  /** `{queries, keys, values}` of a head of cross-attention, for the translation in `targetPieces`. */
  head(text, targetPieces, layer, head, options) {
    const instance = { text: wellFormed(text), target_pieces: targetPieces, layer, head };
    return this.#predict("head", instance, options);
  }

  async #predict(signature, instance, { signal, waiting }) {
    const body = JSON.stringify({ signature_name: signature, instances: [instance] });
    const options = { method: "POST", headers: JSON_BODY, body, signal };
    const { predictions } = await answered(await fetchWithRetry(this.#url, options, waiting));
    return predictions[0];
  }
}

/** Remove half characters, which a paste may contain and the server refuses. */
function wellFormed(text) {
  return text.toWellFormed?.() ?? text;
}

/** JSON with `NaN` and `Infinity`, as TensorFlow Serving writes them; they become null. */
export function readJson(text) {
  // Whole strings match first, so that what is written in them stays.
  const known = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/g, (token) =>
    token.startsWith('"') ? token : "null",
  );
  return JSON.parse(known);
}

/** A response; tried again while the server is busy, loading or down. */
async function fetchWithRetry(url, options, waiting) {
  for (let tries = 1; ; tries++) {
    const response = await fetchOrNull(url, options);
    const down = response === null ? "The server cannot be reached." : outage(response);
    if (!down && (response.status !== 503 || tries === TRIES)) return response;
    const named = Number(response?.headers.get("Retry-After"));
    const seconds = Math.min(named || (down ? 2 ** (tries - 1) : 1), LONGEST_WAIT);
    waiting({ down, busy: down ? "" : "The server is busy.", seconds });
    await pause(seconds, options.signal);
  }
}

/** The response, or null if there is none. */
async function fetchOrNull(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return null;
  }
}

/** What a proxy tells in place of a server that is down; "" for an answer of the server. */
function outage({ status, headers }) {
  return status in NAMES && !isJson(headers) ? ofProxy(status) : "";
}

function isJson(headers) {
  return /json|event-stream/.test(headers.get("Content-Type"));
}

function ofProxy(status) {
  const name = NAMES[status] ? ` (${NAMES[status]})` : "";
  return `A proxy between this page and the server answered ${status}${name}.`;
}

async function answered(response) {
  if (!response.ok && !isJson(response.headers)) throw new ServerError(ofProxy(response.status));
  const body = await response.text();
  let content;
  try {
    content = readJson(body);
  } catch {
    throw new ServerError(`The server's answer (${response.status}) cannot be read.`);
  }
  if (!response.ok) {
    throw new ServerError(content?.error ?? `The server answered ${response.status}.`);
  }
  return content;
}

function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

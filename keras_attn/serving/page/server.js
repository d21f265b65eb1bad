/** Requests to the server that this page came from, in the form of TensorFlow Serving's REST API. */

const TRIES = 5;
const LONGEST_WAIT = 30; // seconds

// Found from this module, so that the page works under any path of a proxy.
const PAGE = new URL(".", import.meta.url).pathname.replace(/\/$/, "");
const SERVER = PAGE.replace(/\/page$/, "");

/** The address of the server. */
export const ADDRESS = location.origin + SERVER;

/** Something that the reader is told: its message is a sentence. */
export class ServerError extends Error {}

/**
 * What the page is about: `{name, version, source, target, max_characters, max_pieces, examples,
 * facts, models}`, of the model of that name, or of the first one of the server.
 */
export async function readSettings(name) {
  const query = name ? `?model=${encodeURIComponent(name)}` : "";
  return answered(await patiently(`${PAGE}/settings.json${query}`, {}));
}

/** The model of that name. `signal` aborts a request; `waiting(seconds)` is told of each wait. */
export class Model {
  #url;

  constructor(name) {
    this.#url = `${SERVER}/v1/models/${encodeURIComponent(name)}:predict`;
  }

  /**
   * `{hypotheses, isUncertain}`: `[{text, score}, ...]`, best first, and whether the model is not
   * sure of the best; false for a model that does not tell.
   */
  async nbest(text, options) {
    const answer = await this.#predict("nbest", wellFormed(text), options);
    const hypotheses = answer.translations
      .map((translation, i) => ({ text: translation, score: answer.scores[i] }))
      .filter(({ score }, i) => i === 0 || score !== null); // less than asked for were found
    return { hypotheses, isUncertain: answer.is_uncertain === true };
  }

  /**
   * `{translation, source_pieces, target_pieces, weights}` and, of a model that is not older,
   * `{encoder_weights, decoder_weights, probabilities, alternatives, alternative_probabilities}`.
   */
  attend(text, options) {
    return this.#predict("attend", wellFormed(text), options);
  }

  /** The same, of the best translation that begins with these target pieces. */
  continueFrom(text, prefixPieces, options) {
    const instance = { text: wellFormed(text), prefix_pieces: prefixPieces };
    return this.#predict("continue", instance, options);
  }

  async #predict(signature, instance, { signal, waiting }) {
    const body = JSON.stringify({ signature_name: signature, instances: [instance] });
    const headers = { "Content-Type": "application/json" };
    const options = { method: "POST", headers, body, signal };
    const { predictions } = await answered(await patiently(this.#url, options, waiting));
    return predictions[0];
  }
}

/** Half a character, as a paste may bring it, is no text for the server. */
function wellFormed(text) {
  return text.toWellFormed?.() ?? text;
}

/** JSON with the numbers that it does not know, as TensorFlow Serving writes them; these are null. */
export function readJson(text) {
  // Whole strings match first, so that what is written in them stays.
  const known = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/g, (token) =>
    token.startsWith('"') ? token : "null",
  );
  return JSON.parse(known);
}

/** A response; a server that is busy or still loads is asked again when it says. */
async function patiently(url, options, waiting = () => {}) {
  for (let tries = 1; ; tries++) {
    const response = await asked(url, options);
    if (response.status !== 503 || tries === TRIES) return response;
    const seconds = Math.min(Number(response.headers.get("Retry-After")) || 1, LONGEST_WAIT);
    waiting(seconds);
    await pause(seconds, options.signal);
  }
}

async function asked(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ServerError("The server cannot be reached.");
  }
}

async function answered(response) {
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

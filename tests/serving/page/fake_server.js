// In place of the server: answers each request with what `answer(signature, text, n)` makes of it,
// n = 1 for the first; however late, and even when nobody waits for it any more. Texts of answers
// that are over are in `ended`.
window.asked = [];
window.texts = [];
window.signals = [];
window.ended = [];
window.fetch = async (url, { body, signal }) => {
  if (url.endsWith("/translate/stream")) return streamed(JSON.parse(body), signal);
  const { signature_name, instances } = JSON.parse(body);
  asked.push(signature_name);
  texts.push(instances[0]);
  signals.push(signal);
  const { seconds = 0, html, body: json, ...answered } = answer(signature_name, instances[0], asked.length);
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  ended.push(instances[0]);
  if (html) return new Response(html, { ...answered, headers: { "Content-Type": "text/html" } });
  return Response.json(json, answered);
};

// The answer to a stream, `{ events, seconds }`: the events one by one, with that time before each, in
// parts that end anywhere. Without an event `done` or `error`, the connection breaks.
function streamed({ q }, signal) {
  asked.push("stream");
  texts.push(q);
  signals.push(signal);
  const { events, seconds = 0 } = answer("stream", q, asked.length);
  const start = async (controller) => {
    signal.addEventListener("abort", () => controller.error(signal.reason));
    for (const [name, data] of events) {
      await new Promise((done) => setTimeout(done, 1000 * seconds));
      if (signal.aborted) {
        ended.push(q);
        return;
      }
      const bytes = new TextEncoder().encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
      const half = Math.floor(bytes.length / 2) + 1;
      controller.enqueue(bytes.slice(0, half));
      controller.enqueue(bytes.slice(half));
    }
    if (["done", "error"].includes(events.at(-1)[0])) controller.close();
    else controller.error(new TypeError("network error"));
  };
  const stream = new ReadableStream({ start: (controller) => void start(controller) });
  return new Response(stream, { headers: { "Content-Type": "text/event-stream" } });
}

// An event for each of these translations.
function sentencesOf(translations, more = {}) {
  return translations.map((translation, index) => [
    "sentence",
    { index, source: "", before: index ? " " : "", translation, ...more },
  ]);
}

// `more` holds further outputs, as `{ is_uncertain: true }`.
function nbest(translation, more = {}) {
  const hypotheses = { translations: [translation, "another"], scores: [-1, -2], ...more };
  return { body: { predictions: [hypotheses] } };
}

// Each target piece looks at one source piece almost alone. `more` as for `nbest`.
function attend(
  translation,
  targets = ["▁x", "</s>"],
  sources = ["▁", "猫", "</s>"],
  more = {},
) {
  const weight = (t, s) => (s === (t + 1) % sources.length ? 0.98 : 0.02 / (sources.length - 1));
  const weights = [[targets.map((_, t) => sources.map((_, s) => weight(t, s)))]];
  const attended = { translation, source_pieces: sources, target_pieces: targets, weights, ...more };
  return { body: { predictions: [attended] } };
}

// The answer of a model of 3 layers and 2 heads that tells everything. Each head of the encoder looks
// that far to the left, and the decoder looks at its first input.
function attendAll(targets, sources = ["▁", "猫", "</s>"]) {
  const heads = (rows, columns, isSeen) =>
    [0, 1, 2].map((layer) =>
      [0, 1].map((head) =>
        rows.map((_, t) =>
          columns.map((_, s) => Number(isSeen(t, s, (2 * layer + head) % columns.length))),
        ),
      ),
    );
  const others = ["▁b", "▁c", "<0xE3>", "</s>"];
  const translation = targets.join("").replace("</s>", "").replaceAll("▁", " ").trim();
  const all = {
    weights: heads(targets, sources, (t, s, n) => s === (t + n) % sources.length),
    encoder_weights: heads(sources, sources, (t, s, n) => s === Math.max(t - n, 0)),
    decoder_weights: heads(targets, targets, (t, s) => s === 0),
    probabilities: targets.map((_, t) => 0.5 - t / 16),
    alternatives: targets.map((piece) => [piece, ...others.filter((one) => one !== piece), ""]),
    alternative_probabilities: targets.map((_, t) => [0.5 - t / 16, 0.25, 0.125, 0.001, 0]),
  };
  return attend(translation, targets, sources, all);
}

// A head of two numbers, for the pieces of `attend`.
function ofHead() {
  const vectors = (number) => Array.from({ length: number }, (_, i) => [1 - i, 0.5 * i]);
  return { body: { predictions: [{ queries: vectors(2), keys: vectors(3), values: vectors(3) }] } };
}

// In place of the server: answers each request with what `answer(signature, text, n)` makes of it,
// n = 1 for the first; however late, and even when nobody waits for it any more.
window.asked = [];
window.texts = [];
window.signals = [];
window.fetch = async (url, { body, signal }) => {
  const { signature_name, instances } = JSON.parse(body);
  asked.push(signature_name);
  texts.push(instances[0]);
  signals.push(signal);
  const { seconds = 0, ...answered } = answer(signature_name, instances[0], asked.length);
  await new Promise((done) => setTimeout(done, 1000 * seconds));
  return new Response(JSON.stringify(answered.body), answered);
};

// `more` holds further outputs, as `{ is_uncertain: true }`.
function nbest(translation, more = {}) {
  const hypotheses = { translations: [translation, "another"], scores: [-1, -2], ...more };
  return { body: { predictions: [hypotheses] } };
}

// Each target piece looks at one source piece almost alone.
function attend(translation, targets = ["▁x", "</s>"], sources = ["▁", "猫", "</s>"]) {
  const weight = (t, s) => (s === (t + 1) % sources.length ? 0.98 : 0.02 / (sources.length - 1));
  const weights = [[targets.map((_, t) => sources.map((_, s) => weight(t, s)))]];
  const attended = { translation, source_pieces: sources, target_pieces: targets, weights };
  return { body: { predictions: [attended] } };
}

// The text itself as its translation.
function echo(signature, text) {
  return signature === "nbest" ? nbest(text) : attend(text);
}

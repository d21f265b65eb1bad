import { readPiece, readPieces } from "./pieces.js";
import { Weights } from "./weights.js";

const START = readPiece("<s>"); // what the decoder reads first

/** Pieces, attention weights and probabilities of a translation. */
export class Attention {
  #kinds = new Map();

  /** `answer` is the server's; the answer of an older model lacks some of it. */
  constructor(answer, { source, target }) {
    this.translation = answer.translation;
    this.sources = readPieces(answer.source_pieces);
    this.targets = readPieces(answer.target_pieces);
    this.options = options(answer, this.targets);
    const [ofSource, ofTarget] = [source, target].map(({ name }) => `${name} pieces`);
    this.#add("cross", answer.weights, {
      sources: this.sources,
      targets: this.targets,
      languages: { source, target },
      labels: { source: ofSource, target: ofTarget },
    });
    this.#add("encoder", answer.encoder_weights, {
      sources: this.sources,
      targets: this.sources,
      languages: { source, target: source },
      labels: { source: `${ofSource}, attended to`, target: `${ofSource}, attending` },
    });
    this.#add("decoder", answer.decoder_weights, {
      sources: [START, ...this.targets.slice(0, -1)],
      targets: this.targets,
      languages: { source: target, target },
      labels: { source: `${ofTarget} before`, target: ofTarget },
    });
  }

  /** Whether the model read nothing: the text is returned as given. */
  get isEmpty() {
    return this.sources.every(({ kind }) => kind === "end");
  }

  /** Names of the kinds of attention: of "cross", "encoder" and "decoder". */
  get kinds() {
    return [...this.#kinds.keys()];
  }

  /** The weights of a kind. */
  of(kind) {
    return this.#kinds.get(kind);
  }

  #add(kind, numbers, pieces) {
    if (numbers?.length) this.#kinds.set(kind, new Weights(numbers, pieces));
  }
}

/**
 * For each target piece `{probability, alternatives}`, the likeliest pieces in its place, each
 * `{piece, probability}`; null for an older model.
 */
function options({ probabilities, alternatives, alternative_probabilities }, targets) {
  if (!alternatives) return null;
  return targets.map((_, t) => ({
    probability: probabilities[t],
    alternatives: readPieces(alternatives[t]).map((piece, i) => ({
      piece,
      probability: alternative_probabilities[t][i],
    })),
  }));
}

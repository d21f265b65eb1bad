import { readPieces } from "./pieces.js";

/** In place of the number of a layer or head: the average of all. */
export const ALL = "all";

/**
 * The attention of a translation (T pieces) to its text (S pieces), by layer and head.
 *
 * A piece is chosen by `{target, source}`, numbers or null: a target piece, which looked; a source
 * piece, which was looked at; or both.
 */
export class Attention {
  #weights; // [layers][heads][T][S]

  constructor({ translation, source_pieces, target_pieces, weights }) {
    this.translation = translation;
    this.sources = readPieces(source_pieces);
    this.targets = readPieces(target_pieces);
    this.#weights = weights;
  }

  get numLayers() {
    return this.#weights.length;
  }

  get numHeads() {
    return this.#weights[0].length;
  }

  /** Weights `[T][S]` of a layer and a head, or the average over `ALL` of them. */
  matrix(layer, head) {
    const layers = layer === ALL ? this.#weights : [this.#weights[layer]];
    const heads = layers.flatMap((all) => (head === ALL ? all : [all[head]]));
    return this.targets.map((_, t) =>
      this.sources.map((_, s) => heads.reduce((sum, one) => sum + one[t][s], 0) / heads.length),
    );
  }
}

/** The lines of a matrix `[T][S]` that a choice leaves, `{target, source, weight}`. */
export function chosenWeights(matrix, chosen) {
  return matrix.flatMap((row, target) =>
    row
      .map((weight, source) => ({ target, source, weight }))
      .filter(
        (line) =>
          (chosen.target === null || chosen.target === line.target) &&
          (chosen.source === null || chosen.source === line.source),
      ),
  );
}

/** In place of the number of a layer or head: the average of all. */
export const ALL = "all";

/**
 * Attention weights of one kind, by layer and head: T pieces, the targets, look at S pieces, the
 * sources. `languages` is `{source, target}`, each `{code, name}`; `labels` has a name for each side.
 *
 * A piece is chosen by `{target, source}`, numbers or null: a target piece, which looked; a source
 * piece, which was attended to; or both.
 */
export class Weights {
  #numbers; // [layers][heads][T][S]

  constructor(numbers, { sources, targets, languages, labels }) {
    this.#numbers = numbers;
    this.sources = sources;
    this.targets = targets;
    this.languages = languages;
    this.labels = labels;
  }

  get numLayers() {
    return this.#numbers.length;
  }

  get numHeads() {
    return this.#numbers[0].length;
  }

  /** Weights `[T][S]` of a layer and a head, or the average over `ALL` of them. */
  matrix(layer, head) {
    const layers = layer === ALL ? this.#numbers : [this.#numbers[layer]];
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

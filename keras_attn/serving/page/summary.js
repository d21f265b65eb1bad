import { element } from "./element.js";
import { languageOf } from "./pieces.js";
import { chosenWeights } from "./weights.js";

const MOST = 4; // pieces that are named
const LEAST = 0.01;

/** What a choice shows, in words: nodes of a sentence. */
export function summary({ sources, targets, languages }, matrix, chosen) {
  const sourceName = (s) => name(sources[s], languages.source.code);
  const targetName = (t) => name(targets[t], languages.target.code);
  const found = chosenWeights(matrix, chosen)
    .filter(({ weight }) => weight >= LEAST || chosenBoth(chosen))
    .sort((one, other) => other.weight - one.weight)
    .slice(0, MOST);

  const beginning =
    chosen.target === null
      ? [sourceName(chosen.source), found.length ? " was attended to by " : " was hardly attended to"]
      : [targetName(chosen.target), " attended to "];
  const attended = found.flatMap((line, i) => [
    i ? ", " : "",
    chosen.target === null ? targetName(line.target) : sourceName(line.source),
    ` ${Math.round(100 * line.weight)}%`,
  ]);
  return [...beginning, ...attended, "."];
}

function name(piece, code) {
  return element("b", { lang: languageOf(piece, code) }, piece.name);
}

function chosenBoth({ target, source }) {
  return target !== null && source !== null;
}

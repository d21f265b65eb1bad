"""Reranking of the hypotheses of a search: `python benchmarks/reranking.py MODEL --beam-size 12`.

Prints BLEU, brevity penalty and chrF of an exported model on a split of `tatoeba`. The hypotheses
are reranked by:

- other length penalties than that of the search (Wu et al. 2016);
- a reward for each piece (He et al. 2016);
- expected chrF with the other hypotheses as references, weighted by probabilities with a
  temperature (minimum Bayes risk: Kumar and Byrne 2004; with chrF, Freitag et al. 2022).
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from machine import describe_machine
from sacrebleu.metrics import BLEU, CHRF
from search_settings import load, search

from keras_attn import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.decoding.beam_search import length_penalty
from keras_attn.translation.evaluation.metrics import streams
from keras_attn.translation.tokenization.tokenizer import Tokenizers

PENALTIES = (1.0, 1.2, 1.4, 1.6)
REWARDS = (0.4, 0.6, 0.8)
TEMPERATURES = (1.0, 2.0, 3.0)


class Hypothesis(NamedTuple):
    """Translation, log probability, and number of pieces with EOS."""

    text: str
    log_probability: float
    num_pieces: int


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "model", type=Path, help="folder of an exported version, or of all versions"
    )
    parser.add_argument("--data", default="tatoeba")
    parser.add_argument("--split", choices=("validation", "test"), default="validation")
    parser.add_argument("--beam-size", type=int, default=12)
    arguments = parser.parse_args()
    print(describe_machine(("tensorflow",)))
    model, tokenizers, config = load(arguments.model)
    config = dataclasses.replace(config, beam_size=arguments.beam_size)
    config.validate()
    pairs = load_corpus(arguments.data, config.source, config.target)
    examples = getattr(pairs, arguments.split)
    found = hypotheses_of([e.source for e in examples], model, tokenizers, config)
    references = [e.references for e in examples]
    print(f"{len(found):,} sentences of {arguments.split}, {config.beam_size} hypotheses each\n")
    print(f"{'BLEU':>6}{'brevity':>9}{'chrF':>6}  chosen by", flush=True)
    for name, choose in ways():
        print(f"{scores([choose(these) for these in found], references)}  {name}", flush=True)
    return 0


def hypotheses_of(
    texts: list[str], model: Transformer, tokenizers: Tokenizers, config: Config
) -> list[list[Hypothesis]]:
    """All hypotheses that the search finds for each text."""
    found = []
    for these in search(texts, model, tokenizers, config, config.beam_size):
        said = tokenizers.target.decode([tokens for tokens, _ in these])
        numbers = [len(tokens) + 1 for tokens, _ in these]
        penalties = [float(length_penalty(number, config.length_penalty)) for number in numbers]
        totals = [score * by for (_, score), by in zip(these, penalties, strict=True)]
        found.append(list(map(Hypothesis, said, totals, numbers)))
    return found


def ways() -> list[tuple[str, Callable[[Sequence[Hypothesis]], str]]]:
    """Ways to choose a hypothesis, by name."""

    def by(score: Callable[[Hypothesis], float]) -> Callable[[Sequence[Hypothesis]], str]:
        return lambda hypotheses: max(hypotheses, key=score).text

    def penalised(alpha: float) -> Callable[[Hypothesis], float]:
        return lambda one: one.log_probability / float(length_penalty(one.num_pieces, alpha))

    def rewarded(reward: float) -> Callable[[Hypothesis], float]:
        return lambda one: one.log_probability + reward * one.num_pieces

    def agreeing(temperature: float) -> Callable[[Sequence[Hypothesis]], str]:
        return lambda hypotheses: agreed(hypotheses, temperature)

    return [
        *((f"length penalty {alpha}", by(penalised(alpha))) for alpha in PENALTIES),
        *((f"reward of {reward} a piece", by(rewarded(reward))) for reward in REWARDS),
        *((f"expected chrF, temperature {t}", agreeing(t)) for t in TEMPERATURES),
    ]


def agreed(hypotheses: Sequence[Hypothesis], temperature: float) -> str:
    """Hypothesis with the highest expected chrF."""
    log_probabilities = np.array([one.log_probability for one in hypotheses])
    weights = np.exp((log_probabilities - log_probabilities.max()) / temperature)
    texts = [one.text for one in hypotheses]
    metric = CHRF()
    expected = [
        sum(
            w * metric.sentence_score(text, [other]).score
            for w, other in zip(weights, texts, strict=True)
        )
        for text in texts
    ]
    return texts[int(np.argmax(expected))]


def scores(translations: list[str], references: Sequence[Sequence[str]]) -> str:
    """BLEU, brevity penalty and chrF."""
    bleu = BLEU().corpus_score(translations, streams(references))
    chrf = CHRF().corpus_score(translations, streams(references)).score
    return f"{bleu.score:>6.2f}{bleu.bp:>9.3f}{chrf:>6.1f}"


if __name__ == "__main__":
    sys.exit(main())

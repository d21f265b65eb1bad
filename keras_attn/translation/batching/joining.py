"""Pairs of several sentences, joined from training pairs; the model learns to read them."""

import re

import numpy as np

from keras_attn.languages import read_language
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs

# End of a sentence that another may follow. Without one, two sentences would read as one.
_END = re.compile(r"[。.!?…][」』）)\"'”’]*$")

SHARE_OF_THREE = 0.25  # the other joined pairs have two sentences

# A small corpus is joined in several ways, so that its epochs differ: at most `MOST_WAYS` times as
# many pairs as an epoch needs, as long as they are below `MANY`.
MOST_WAYS = 8
MANY = 10_000


def joined_pairs(
    part: WeightedPairs, lengths: np.ndarray, config: Config, random: np.random.Generator
) -> WeightedPairs:
    """Join random pairs of a part by twos and threes.

    The sentences are drawn by the weights of the pairs. All but the last of a joined pair end with
    punctuation on both sides. `lengths` `(N, 2)` are those of each side in tokens, EOS included; no
    sum of them is above `max_length`. An epoch has `concat_ratio` times as many joined pairs as
    others.
    """
    number = round(config.concat_ratio * sum(part.weights))
    ends = np.array([all(_END.search(text) for text in pair) for pair in part.pairs])
    if not number or not ends.any():
        return WeightedPairs([], [])
    ways = min(MOST_WAYS, max(1, MANY // number))
    weights = np.array(part.weights)
    drawn = random.choice(len(ends), (number * ways, 3), p=weights / weights.sum())
    first = weights * ends
    drawn[:, :2] = random.choice(len(ends), (number * ways, 2), p=first / first.sum())
    is_three = random.random(number * ways) < SHARE_OF_THREE
    joiners = [read_language(code).joiner for code in (config.source, config.target)]
    pairs = []
    for members, has_three in zip(drawn, is_three, strict=True):
        chosen = members if has_three else members[1:]
        if lengths[chosen].sum(axis=0).max() <= config.max_length:
            sides = zip(*(part.pairs[i] for i in chosen), strict=True)
            pairs.append(Pair(*(one.join(side) for one, side in zip(joiners, sides, strict=True))))
    return WeightedPairs(pairs, [1 / ways] * len(pairs))

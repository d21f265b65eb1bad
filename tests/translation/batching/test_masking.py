import types

from keras_attn.translation.batching.masking import MaskedParts
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair, WeightedPairs
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization.tokenizer import Tokenizers

PARTS = [
    WeightedPairs([Pair(f"{{name}}さん、{n}時です。", f"{{name}}, it is {n}.")] * 20, [1.0] * 20)
    for n in (11, 12)
]


def masked(seed=3):
    return MaskedParts(PARTS, Config(seed=seed))


def test_the_same_seed_gives_the_same_placeholders_in_each_part():
    first, same, other = (list(masked(seed)) for seed in (3, 3, 4))
    assert first == same != other
    for part, plain in zip(first, PARTS, strict=True):
        assert part.weights == plain.weights
        for pair in part.pairs:
            assert all(sum(mark in side for mark in PLACEHOLDERS) == 2 for side in pair)


def test_imported_tokenizers_get_no_placeholders():
    ours, imported = (types.SimpleNamespace(is_imported=flag) for flag in (False, True))
    parts = masked()
    assert parts.for_tokenizers(Tokenizers(ours, ours)) is parts
    assert list(parts.for_tokenizers(Tokenizers(imported, imported))) == PARTS

import numpy as np

from keras_attn import Transformer
from keras_attn.translation.special_ids import BOS_ID
from keras_attn.translation.training import lexical_start

NUM_PIECES = 60


def pairs(number=3000, shift=7):
    """Pairs in which the translation of each piece `i` is `i + shift`; some pieces are rare."""
    random = np.random.default_rng(0)
    sources = [random.zipf(1.3, 8).clip(5, NUM_PIECES - 10) for _ in range(number)]
    return sources, [random.permutation(source + shift) for source in sources]


def test_a_piece_and_its_translation_get_the_closest_vectors():
    sizes = NUM_PIECES, NUM_PIECES
    source, target = lexical_start.vectors(pairs(), sizes, 64, np.random.default_rng(0))
    is_known = np.linalg.norm(source, axis=1) > 1e-3
    assert is_known.sum() > 40
    unit = [
        x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9) for x in (source, target)
    ]
    closest = (unit[0] @ unit[1].T).argmax(axis=1)
    assert (closest - np.arange(NUM_PIECES))[is_known].tolist() == [7] * is_known.sum()


def made(width=32, **options):
    model = Transformer.from_sizes(NUM_PIECES, NUM_PIECES, 1, 1, width, 8, 2, **options)
    model.build(((None, None), (None, None)))
    return model


def test_unknown_pieces_keep_their_vectors_and_all_about_their_length():
    model = made()
    before = [np.array(weight) for weight in model.weights]
    lexical_start.apply(model, pairs(), seed=0)
    after = [np.array(weight) for weight in model.weights]
    tables = [
        i for i, weight in enumerate(before) if NUM_PIECES in weight.shape and weight.ndim == 2
    ]
    assert len(tables) == 3  # two of embeddings, and the logits
    changed = [
        weight.path.split("/", 1)[1]
        for weight, old, new in zip(model.weights, before, after, strict=True)
        if not np.array_equal(old, new)
    ]
    assert [path for path in changed if "block" not in path] == [
        "encoder/embedding/tokens/embeddings",
        "decoder/embedding/tokens/embeddings",
        "decoder/logits/kernel",
        "decoder/logits/bias",
    ]
    ends = "attention/output/kernel", "feed_forward/outer/kernel", "cross_attention/value/kernel"
    assert all(path.endswith(ends) for path in changed if "block" in path)
    for old, new in ((before[i], after[i]) for i in tables):
        old, new = (x.T if len(x) == 32 else x for x in (old, new))
        lengths = np.linalg.norm(new, axis=1) / np.linalg.norm(old, axis=1).mean()
        assert 0.5 < lengths.min() and lengths.max() < 2
        assert np.array_equal(old[:5], new[:5])  # none of these is in a pair
        assert not np.array_equal(old[20:30], new[20:30])


def test_a_model_begins_with_the_words_of_the_translation():
    random = np.random.default_rng(0)
    sources = [random.integers(5, NUM_PIECES - 10, 8) for _ in range(3000)]  # none is frequent
    sides = sources, [random.permutation(source + 7) for source in sources]
    model = made(width=128)
    lexical_start.apply(model, sides, seed=0)
    ranks = []
    for source, target in list(zip(*sides, strict=True))[:50]:
        logits = np.array(model((source[None], np.array([[BOS_ID]])))[0, 0])
        ranks += [(logits > logits[piece]).sum() for piece in set(target)]
    assert np.mean(ranks) < 18.5  # 22.5 of the 45 pieces without knowledge


def test_a_model_that_shares_its_tables_can_start_so():
    for options in ({"tie_embeddings": True}, {"share_embeddings": True, "tie_embeddings": True}):
        model = made(**options)
        lexical_start.apply(model, pairs(), seed=0)
        assert all(np.isfinite(weight).all() for weight in model.weights)


def test_long_sentences_need_no_more_memory(monkeypatch):
    monkeypatch.setattr(lexical_start, "MOST_CELLS", 8 * 8 * 10)
    few, _ = lexical_start.vectors(pairs(), (60, 60), 64, np.random.default_rng(0))
    assert 0 < (np.linalg.norm(few, axis=1) > 1e-3).sum() < 30  # of ten pairs

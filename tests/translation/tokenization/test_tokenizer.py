import numpy as np
import pytest
import sentencepiece

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.pairs import Pair
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PAD_ID, UNK_ID
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.tokenizer import Tokenizer, load_or_train, train

ENGLISH = [f"the {a} {b} {c}" for a in ("old", "new") for b in ("red", "blue") for c in "xyzuvw"]
JAPANESE = [f"{a}い{b}が{c}にある" for a in "古赤青白" for b in "箱本机紙" for c in "上下前"]
PAIRS = [Pair(*sides) for sides in zip(JAPANESE, ENGLISH, strict=False)]


@pytest.fixture(scope="module")
def english():
    return train(ENGLISH, vocab_size=290, character_coverage=1.0)


def test_unseen_characters_are_spelt_in_bytes_and_come_back(english):
    texts = ["the 箱 🎉", "", "Ünknown"]
    ids = english.encode(texts)
    assert ids[1] == []
    assert UNK_ID not in ids[0] + ids[2]
    assert english.decode(ids) == texts


def test_special_ids_say_nothing_and_their_names_in_text_are_text(english):
    text = "<s> </s> <pad> <unk>"
    (ids,) = english.encode([text])
    assert min(ids) > EOS_ID
    assert english.decode([ids, [BOS_ID, *ids, EOS_ID, PAD_ID, PAD_ID]]) == [text, text]


def test_the_same_sentences_give_the_same_model_and_it_is_kept(english, tmp_path):
    assert train(ENGLISH, vocab_size=290, character_coverage=1.0).proto == english.proto
    path = tmp_path / "deep" / "source.model"
    english.save(path)
    assert Tokenizer.load(path).proto == english.proto
    assert [file.name for file in path.parent.iterdir()] == ["source.model"]


def test_tiny_texts_give_a_small_vocabulary():
    for texts in (["1", "2", "3"], ["あ"], ["🎉"], ["ab" * 3000, "", "c"]):
        trained = train(texts, vocab_size=4000, character_coverage=1.0)
        assert 260 < trained.vocab_size < 300
        assert trained.decode(trained.encode(texts)) == texts


def test_sentences_beyond_the_limit_are_thinned_out(monkeypatch):
    monkeypatch.setattr(tokenizer, "MAX_SENTENCES", 2)
    thinned = train(["aa", "never", "bb", "never", "aa"], 300, 1.0)
    assert thinned.proto == train(["aa", "never"], 300, 1.0).proto


def test_text_and_sizes_that_no_vocabulary_can_be_made_of_are_refused():
    for texts, size, match in (
        ([], 4000, "must be trained on text. Received: no text"),
        (["", " \u3000"], 4000, "must be trained on text. Received: no text"),
        (["\u2581"], 4000, "SentencePiece cannot train on this text. Received: 1 se"),
        (ENGLISH, 200, r"`vocab_size` must be at least \d+ .*vocab_size=200"),
        (ENGLISH, 270, r"at least (\d+) for the characters.*vocab_size=270"),
    ):
        with pytest.raises(ValueError, match=match) as error:
            train(texts, size, 1.0)
    needed = int(str(error.value).split("at least ")[1].split()[0])
    assert train(ENGLISH, needed, 1.0).vocab_size <= needed


def test_a_file_that_is_no_model_or_has_other_special_ids_is_refused(tmp_path):
    path = tmp_path / "source.model"
    with pytest.raises(ValueError, match="There is no tokenizer at .*source.model"):
        Tokenizer.load(path)
    for content in (b"", b"junk"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match="source.model.*must be a SentencePiece model"):
            Tokenizer.load(path)
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(ENGLISH),
        model_prefix=str(tmp_path / "other"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with pytest.raises(ValueError, match="'pad_id': 0, .*Received: .*'pad_id': -1"):
        Tokenizer.load(tmp_path / "other.model")


def test_tokenizers_are_trained_once_on_their_own_side(tmp_path):
    first = load_or_train(tmp_path, PAIRS, Config(vocab_size=320))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["source.model", "target.model"]
    assert len(first.source.encode(["箱"])[0]) < len(first.target.encode(["箱"])[0])
    again = load_or_train(tmp_path, [Pair("別", "different")], Config(vocab_size=320))
    assert (again.source.proto, again.target.proto) == (first.source.proto, first.target.proto)
    (tmp_path / "target.model").unlink()
    mended = load_or_train(tmp_path, PAIRS, Config(vocab_size=320))
    assert mended.target.proto == first.target.proto


def test_one_tokenizer_may_serve_both_sides(tmp_path):
    shared = load_or_train(tmp_path, PAIRS, Config(vocab_size=340, shared_vocab=True))
    assert shared.source.proto == shared.target.proto
    for texts in (JAPANESE[:2], ENGLISH[:2]):
        assert shared.source.decode(shared.source.encode(texts)) == list(texts)


def test_samples_follow_from_their_seed_and_decode_to_the_text():
    texts = [f"the cat sat on {n} mats and {n} hats" for n in range(30)]
    trained = train(texts, vocab_size=320, character_coverage=1.0)
    first = trained.sample(texts, 0.1, seed=3)
    assert trained.decode(first) == texts
    assert first != trained.encode(texts)
    assert trained.sample(texts, 0.1, seed=4) != first
    # As where training resumes: whatever was drawn before.
    sentencepiece.set_random_generator_seed(7)
    assert Tokenizer(trained.proto).sample(texts, 0.1, seed=3) == first


def test_likely_segmentations_are_drawn_in_proportion_to_their_probability_to_the_power_of_alpha():
    trained = train(["the cat", "the dog", "that dog"], vocab_size=300, character_coverage=1.0)
    processor = sentencepiece.SentencePieceProcessor(model_proto=trained.proto)
    best = processor.nbest_encode_as_ids("the dog", tokenizer.NUM_BEST)
    weights = [np.exp(0.3 * sum(map(processor.get_score, pieces))) for pieces in best]
    drawn = trained.sample(["the dog"] * 5_000, 0.3, seed=1)
    assert len(best) > 2 and max(weights) > 1.2 * min(weights)
    for pieces, weight in zip(best, weights, strict=True):
        assert drawn.count(pieces) / 5_000 == pytest.approx(weight / sum(weights), abs=0.025)
    few = ["", "  ", "箱"]  # nothing, and what has one segmentation
    assert trained.sample(few, 0.1, seed=1) == trained.encode(few)

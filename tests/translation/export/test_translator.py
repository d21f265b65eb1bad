import json

import numpy as np
import pytest
import tensorflow as tf
from shared_translator import CONFIG, PAIRS

from keras_attn.translation.decoding.teacher_forcing import log_probabilities
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.versions import EXTRA

TEXT = "猫が手紙を書いた。"


def test_same_strings_alone_and_in_a_batch_and_empty_stays_empty(translator, texts):
    together = translator(texts)
    assert together[:1] == translator(texts[:1])
    assert together == translator(texts, batch_size=4)
    assert [text for text, answer in zip(texts, together, strict=True) if not answer] == ["", "   "]
    assert len({*together}) >= 4
    assert translator([]) == []


@pytest.mark.slow  # loaded and compiled once more
def test_another_number_of_cores_gives_the_same(translator, exported):
    texts = [pair.source for pair in PAIRS]
    assert Translator.load(exported, cores=1)(texts) == translator(texts)


def test_nbest_begins_with_the_translation_and_its_scores_fall(translator, texts):
    found = translator.nbest(texts)
    assert [row[0].translation for row in found] == translator(texts)
    for text, row in zip(texts, found, strict=True):
        scores = [hypothesis.score for hypothesis in row]
        assert scores == sorted(scores, reverse=True)
        assert len(row) == CONFIG.beam_size
        if text.strip() and "🙂" not in text:  # emoji are returned as given
            assert scores[0] < 0


def test_score_is_the_log_probability_of_the_pieces_of_both_sides(
    translator, tokenizers, make_model
):
    model = make_model()
    texts, translations = zip(*PAIRS, strict=True)
    found = translator.score(texts, translations)
    for text, translation, score in zip(texts, translations, found, strict=True):
        source, target = (
            tf.constant([[*side.encode([line])[0], EOS_ID]])
            for side, line in zip(tokenizers, (text, translation), strict=True)
        )
        assert score == pytest.approx(float(log_probabilities(model, source, target)[0]), rel=1e-3)
    with pytest.raises(ValueError, match="one translation for each text. Received: 1 for 8"):
        translator.score(texts, ["a"])


def test_samples_follow_from_their_seed(translator):
    texts = [TEXT, ""]
    first = translator.sample(texts, seed=1)
    assert first == translator.sample(texts, seed=1)
    assert first[1] == ""
    assert len({translator.sample(texts, seed=seed)[0] for seed in range(4)}) > 1
    for name, value in (("temperature", 0), ("top_p", 0), ("top_p", 1.5), ("top_k", -1)):
        with pytest.raises(ValueError, match=f"`{name}` must be .* Received: {name}={value}"):
            translator.sample(texts, seed=1, **{name: value})
    with pytest.raises(ValueError, match="`seed` must be from .* Received: seed=2147483648"):
        translator.sample(["a"], seed=2**31)


def test_attention_and_probabilities_have_a_row_for_each_piece_said(translator):
    seen = translator.attend(TEXT)
    assert seen.translation == translator([TEXT])[0]
    assert "".join(seen.source_pieces[:-1]).replace("▁", "") == TEXT
    assert seen.source_pieces[-1] == seen.target_pieces[-1] == "</s>"
    num_sources, num_targets = len(seen.source_pieces), len(seen.target_pieces)
    for weights, *shape in (
        (seen.weights, 1, 2, num_targets, num_sources),
        (seen.encoder_weights, 2, 2, num_sources, num_sources),
        (seen.decoder_weights, 1, 2, num_targets, num_targets),
    ):
        assert weights.shape == tuple(shape)
        np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-5)
    assert seen.probabilities.shape == (num_targets,)
    assert seen.alternative_probabilities.shape == (num_targets, 5)
    assert (np.diff(seen.alternative_probabilities) <= 0).all()
    assert all(len(set(some)) == 5 for some in seen.alternatives[:-1])
    for i, piece in enumerate(seen.target_pieces):
        probability, likelihoods = seen.probabilities[i], seen.alternative_probabilities[i]
        if piece in seen.alternatives[i]:
            place = seen.alternatives[i].index(piece)
            assert likelihoods[place] == pytest.approx(probability)
        else:
            assert probability <= likelihoods[-1]


def test_a_translation_goes_on_from_given_pieces(translator):
    seen = translator.attend(TEXT)
    again = translator.continue_from(TEXT, seen.target_pieces[:2])
    assert again.translation == seen.translation
    np.testing.assert_allclose(again.probabilities, seen.probabilities, rtol=1e-3)
    other = next(piece for piece in seen.alternatives[1] if piece != seen.target_pieces[1])
    changed = translator.continue_from(TEXT, [seen.target_pieces[0], other])
    assert changed.target_pieces[:2] == [seen.target_pieces[0], other]
    # The same pieces before it.
    np.testing.assert_allclose(changed.probabilities[0], seen.probabilities[0], rtol=1e-3)
    likelihood = seen.alternative_probabilities[1, seen.alternatives[1].index(other)]
    assert changed.probabilities[1] == pytest.approx(likelihood, rel=1e-3)
    ended = translator.continue_from(TEXT, [seen.target_pieces[0], "</s>"])
    assert ended.target_pieces == [seen.target_pieces[0], "</s>"]
    assert translator.continue_from(TEXT, ["no piece"]).translation == ""
    assert translator.continue_from("", ["no piece"]).translation == ""
    with pytest.raises(ValueError, match="`prefix_pieces` must be a list of strings"):
        translator.continue_from(TEXT, "a")


def test_what_is_no_list_of_strings_is_named_by_row_and_type(translator):
    for wrong in ("a", b"a", None, 3):
        must_be = f"`texts` must be a list of strings. .*texts={wrong!r}"
        with pytest.raises(ValueError, match=must_be):
            translator(wrong)
        with pytest.raises(ValueError, match="`translations` must be a list of strings"):
            translator.score(["a"], wrong)
    for wrong in (3, None, b"a", ["a"]):
        says = f"must be a string. Received: {type(wrong).__name__}"
        for call in (
            translator,
            translator.nbest,
            lambda texts: translator.score(texts, ["b", "c"]),
            lambda texts: translator.sample(texts, seed=1),
        ):
            with pytest.raises(ValueError, match=rf"`texts\[1\]` {says}"):
                call(["a", wrong])
        with pytest.raises(ValueError, match=rf"`translations\[0\]` {says}"):
            translator.score(["a"], [wrong])
        with pytest.raises(ValueError, match=f"`text` {says}"):
            translator.attend(wrong)
    with pytest.raises(ValueError, match="`batch_size` must be at least 1. Received: batch_size=0"):
        translator(["a"], batch_size=0)


def test_a_model_that_lacks_a_signature_or_is_of_a_newer_version_is_refused(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "text")])
    def echo(text):
        return {"translation": text}

    version = tmp_path / "1"
    tf.saved_model.save(tf.Module(), str(version), signatures={"serving_default": echo})
    path = version / EXTRA / "config.json"
    path.parent.mkdir(exist_ok=True)
    CONFIG.save(path)
    translator = Translator.load(version)
    assert translator(["猫"]) == ["猫"]
    with pytest.raises(ValueError, match="signature 'nbest'.*Received a model with: serving_def"):
        translator.nbest(["猫"])
    with pytest.raises(ValueError, match="`cores` must be at least 1. Received: cores=0."):
        Translator.load(version, cores=0)
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "format_version": 99}), encoding="utf-8")
    with pytest.raises(ValueError, match="written by a newer version of keras_attn"):
        Translator.load(tmp_path)

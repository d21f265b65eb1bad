import re

import numpy as np
import pytest
import tensorflow as tf
from shared_translator import CONFIG, PAIRS

from keras_attn.translation import lexicon
from keras_attn.translation.export import signatures
from keras_attn.translation.export.signatures import CONFIDENCE, Signatures
from keras_attn.translation.lexicon import FLOOR
from keras_attn.translation.special_ids import BOS_ID, EOS_ID, PLACEHOLDER_IDS, UNK_ID

SOURCES = [pair.source for pair in PAIRS]
TEXTS = [*SOURCES[:3], "", "花" * 60, "星が咲く。歌が見える。" * 4]


@pytest.fixture(scope="module")
def ask(translator):
    """`ask(signature, text, **inputs)`: outputs of a signature of the shared translator."""

    def ask(signature, text, **inputs):
        text = tf.constant(text, tf.string, shape=[len(text)])
        given = {name: tf.constant(value) for name, value in inputs.items()}
        found = translator._loaded.signatures[signature](text=text, **given)
        return {name: value.numpy() for name, value in found.items()}

    return ask


@pytest.fixture(scope="module")
def translate(ask):
    def translate(*texts, **terms):
        found = ask("glossary" if terms else "serving_default", texts, **terms)
        return [translation.decode() for translation in found["translation"]]

    return translate


def test_translations_do_not_depend_on_the_rows_searched_at_once(
    translate, tokenizers, make_model, monkeypatch
):
    monkeypatch.setattr(signatures, "ROWS_AT_ONCE", 2)
    served = Signatures(make_model(), tokenizers, CONFIG)
    texts = [*SOURCES[:5], "庭に{name}が咲く。"]
    found = served.translate(tf.constant(texts))["translation"].numpy()
    assert [translation.decode() for translation in found] == translate(*texts)


def test_nbest_of_a_text_in_parts_joins_them_and_adds_their_scores(ask):
    whole = ask("nbest", TEXTS[-1:])
    alone = ask("nbest", ["星が咲く。", "歌が見える。"] * 4)
    for n in range(CONFIG.beam_size):
        assert whole["translations"][0, n] == b" ".join(alone["translations"][:, n])
    np.testing.assert_allclose(whole["scores"][0], alone["scores"].sum(axis=0), rtol=1e-4)


@pytest.mark.slow  # no rows are another shape to compile, in each signature
def test_no_text_gives_no_rows_in_any_signature(ask):
    assert ask("serving_default", [])["translation"].shape == (0,)
    assert ask("nbest", [])["scores"].shape == (0, CONFIG.beam_size)
    none = np.zeros([0], object)
    assert ask("score", [], translation=tf.constant(none, tf.string))["log_probability"].size == 0
    assert ask("attend", [])["alternatives"].shape[0] == 0


def test_sentences_and_lines_are_translated_one_by_one_and_come_back_in_their_places(translate):
    one, other = sorted(SOURCES[:2], key=len, reverse=True)  # the search begins with the shortest
    first, second = translate(one, other)
    # Text that is not of the language is returned as given.
    others = ["😊", "？！", "Hello, world.", "123", "한국", "…", "😀\n\n--\n"]
    found = translate(f"{one}{other}\n\n{other}\r\n", *others)
    assert found == [f"{first} {second}\n\n{second}\r\n", *others]


def test_spans_are_copied_and_terms_of_a_glossary_get_their_translations(translate):
    spans = ["https://example.com/a?b=1", "{name}", "%s", "<b>", "me@example.com", "🎉"]
    for span, answer in zip(spans, translate(*(f"庭に{x}が咲く。" for x in spans)), strict=True):
        assert span in answer
    terms = {"term": ["猫", "窓"], "term_translation": ["Hanako", "窓"]}
    (answer,) = translate(SOURCES[0], **terms)
    assert "Hanako" in answer and "窓" in answer
    none = tf.zeros([0], tf.string)
    assert translate(SOURCES[1], term=none, term_translation=none) == translate(SOURCES[1])


def test_a_text_that_is_only_spans_to_copy_becomes_their_values(ask, translate):
    for text, expected in (
        ("三千代", "Michiyo"),
        ("2024年10月28日", "October 28, 2024"),
        ("令和6年5月", "May 2024"),
        ("%{count}", "%{count}"),
        ("・C:\\Users\\田中", "・C:\\Users\\田中"),
        ("1.5億", "150 million"),
        ("NHK。", "NHK。"),
    ):
        assert translate(text) == [expected], text
        assert ask("attend", [text])["source_pieces"][0].tolist() == [b"</s>"]
    marked, labelled = translate("・猫が咲く。\n■夢", "【夢】花が咲く。")
    assert marked.startswith("・") and "\n■" in marked
    assert labelled.startswith("[") and "] " in labelled


def test_tags_do_not_change_a_translation(ask, translate):
    source, plain = "庭に<b>花</b>が<i>咲く</i>。", "庭に花が咲く。"
    settings = {"seed": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    for name, given in (("serving_default", {}), ("attend", {}), ("sample", settings)):
        answer, expected = (
            ask(name, [text], **given)["translation"][0].decode() for text in (source, plain)
        )
        assert re.sub("<[^<>]*>", "", answer) == expected
        assert re.findall("<[^<>]*>", answer) == ["<b>", "</b>", "<i>", "</i>"]
    scores = [
        ask("score", [text], translation=[answer])["log_probability"][0]
        for text, answer in ((source, "A <b>flower</b>."), (plain, "A flower."))
    ]
    np.testing.assert_allclose(*scores, rtol=1e-4)
    assert translate("<p>庭に花が咲く。</p>") == [f"<p>{translate(plain)[0]}</p>"]


def test_terms_are_found_in_any_width(translate):
    terms = {
        "term": ["ＮＨＫ", "ﾏｯｸ", "花　火"],
        "term_translation": ["Radio", "Burger", "Fireworks"],
    }
    (answer,) = translate("NHKのマックで花火を見る。", **terms)
    assert all(one in answer for one in terms["term_translation"])


def test_a_text_in_another_language_is_returned_said_so_and_has_no_attention(ask):
    texts = [
        "Hello, world. Bye.",
        "Привет",
        "😀 12",
        "Hello. 庭に花が咲く。",
        "https://a.com/b",
        "",
    ]
    found = ask("nbest", texts)
    assert found["is_other_language"].tolist() == [True, True, *[False] * 4]
    assert np.isfinite(found["scores"]).sum(axis=1).tolist() == [1, 1, *[CONFIG.beam_size] * 4]
    assert found["translations"][0, 0] == texts[0].encode()
    seen = ask("attend", texts[:2])
    assert seen["translation"].tolist() == [text.encode() for text in texts[:2]]
    assert seen["source_pieces"].tolist() == [[b"</s>"]] * 2


def test_what_is_to_be_copied_is_never_left_out(ask):
    texts = [f"庭に{{a}}が{n}咲く。{{b}}と{{c}}は{{d}}です。" for n in (10, 11, 12)]
    found = ask("nbest", texts)
    for text, row in zip(texts, found["translations"][:, 0], strict=True):
        for span in ("{a}", "{b}", "{c}", "{d}", text[6:8]):
            assert row.decode().count(span) == 1


def test_rare_characters_and_unlikely_translations_are_uncertain(ask):
    texts = [*SOURCES, "庭に龘が咲く。", "", "？！"]
    found = ask("nbest", texts)["is_uncertain"].tolist()
    rows = [row[row > 0] for row in ask("attend", texts)["probabilities"]]
    is_unlikely = [np.log(row).sum() < -CONFIDENCE[-1] * max(row.size, 1) for row in rows]
    expected = [bool(m or "龘" in text) for m, text in zip(is_unlikely, texts, strict=True)]
    assert found == [*expected[:-2], False, False]
    assert {*found} == {True, False} and found[-3]


def test_evidence_is_the_mean_log_probability_the_relative_length_and_two_of_the_lexicon(
    make_model, tokenizers
):
    encoded = (side.encode([pair[i] for pair in PAIRS]) for i, side in enumerate(tokenizers))
    sides = [[np.array(ids) for ids in side] for side in encoded]
    words = lexicon.learn(sides, [side.vocab_size for side in tokenizers], seed=0)
    served = Signatures(make_model(), tokenizers, CONFIG, words)
    translations, evidence = served.translate_with_evidence(SOURCES)
    seen = served.attend(tf.constant(SOURCES))
    assert [one.decode() for one in seen["translation"].numpy()] == translations
    probabilities = seen["probabilities"].numpy()
    is_piece = seen["target_pieces"].numpy() != b""
    total = np.where(is_piece, np.log(np.where(is_piece, probabilities, 1)), 0).sum(axis=1)
    np.testing.assert_allclose(evidence[:, 0], total / is_piece.sum(1), rtol=1e-3)
    lengths = np.array([len(ids) + 1 for ids in sides[0]])
    np.testing.assert_allclose(evidence[:, 1], np.minimum(is_piece.sum(1) / lengths, 2), rtol=1e-5)
    assert (evidence[:, 2:] > np.log(FLOOR) - 1e-3).all() and (evidence[:, 2:] < 0).all()


def test_samples_and_attention_copy_too(ask, translate):
    text = ["庭に{name}が12345咲く。"]
    settings = {"seed": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    sampled = ask("sample", text, **settings)["translation"][0].decode()
    assert "{name}" in sampled and "12,345" in sampled
    seen = ask("attend", text)
    assert [seen["translation"][0].decode()] == translate(*text)
    assert {b"{name}", b"12,345"} <= set(seen["source_pieces"][0])


def test_the_likeliest_piece_is_that_of_the_search_step_and_has_the_probability_of_a_score(
    ask, make_model, tokenizers
):
    model, (source, target) = make_model(), tokenizers
    seen = ask("attend", TEXTS[:4])
    pieces, alternatives = seen["target_pieces"], seen["alternatives"]
    probabilities = seen["probabilities"]
    scores = ask("nbest", TEXTS[:3])["scores"][:, 0]
    lengths = (pieces != b"").sum(1)
    ids_of = {piece.encode(): i for i, piece in enumerate(target.pieces)}
    for row, length in enumerate(lengths[:3]):
        total = np.log(probabilities[row, :length]).sum()
        penalty = ((CONFIG.length_penalty_offset + length) / 6) ** CONFIG.length_penalty
        np.testing.assert_allclose(total / penalty, scores[row], rtol=1e-3)
        # Forced decoding of the first pieces alone.
        ids = [ids_of[piece] for piece in pieces[row, :length]]
        source_ids = np.array([[*source.encode([TEXTS[row]])[0], EOS_ID]])
        logits = model((source_ids, np.array([[BOS_ID, *ids[:-1]]])))[0].numpy()
        logits[:, [0, UNK_ID, BOS_ID, *PLACEHOLDER_IDS]] = -np.inf
        likeliest = [target.pieces[i].encode() for i in logits.argmax(-1)]
        # The last piece may be EOS because the maximum length is reached.
        assert alternatives[row, : length - 1, 0].tolist() == likeliest[:-1]
    assert (alternatives[pieces == b""] == b"").all()
    assert not seen["alternative_probabilities"][pieces == b""].any()
    assert pieces[3].tolist() == [b"</s>"] + [b""] * (pieces.shape[1] - 1)


def test_texts_go_on_from_the_pieces_of_each_also_from_copied_ones(ask):
    text = ["庭に{name}が12345咲く。", "{name}と{name}が咲く。", SOURCES[0]]
    seen = ask("attend", text)
    again = ask("continue", text, prefix_pieces=seen["target_pieces"])
    np.testing.assert_array_equal(again["target_pieces"], seen["target_pieces"])
    np.testing.assert_array_equal(again["translation"], seen["translation"])
    begin = [["{name}", "", "12,345"], ["{name}", "{name}", ""], ["▁", "", ""]]
    # The last begins with a span twice that its source has once.
    twice = ["{name}", "{name}", ""]
    found = ask("continue", [*text, text[0]], prefix_pieces=[*begin, twice])
    first, second, *_ = found["target_pieces"].tolist()
    assert first[:2] == [b"{name}", b"12,345"] and second[:2] == [b"{name}", b"{name}"]
    translations = [one.decode() for one in found["translation"]]
    assert translations[0].startswith("{name}12,345") and translations[0].count("{name}") == 1
    assert translations[1].startswith("{name}{name}")
    assert translations[3] == ""


def test_the_weights_of_a_head_are_the_softmax_of_its_queries_by_its_keys(ask):
    text = ["庭に{name}が12345咲く。", SOURCES[0]]
    seen = ask("attend", text)
    layers, heads = seen["weights"].shape[1:3]
    for layer, head in ((0, heads - 1), (layers - 1, 0)):
        number = {"layer": [layer, layer], "head": [head, head]}
        found = ask("head", text, target_pieces=seen["target_pieces"], **number)
        scores = found["queries"] @ found["keys"].transpose(0, 2, 1)
        scores /= found["keys"].shape[-1] ** 0.5
        scores[~(seen["source_pieces"] != b"")[:, None].repeat(scores.shape[1], 1)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        is_piece = seen["target_pieces"] != b""
        expected = seen["weights"][:, layer, head]
        np.testing.assert_allclose(weights[is_piece], expected[is_piece], atol=1e-5)
        assert found["values"].shape == found["keys"].shape
    with pytest.raises(tf.errors.InvalidArgumentError):
        ask("head", text, target_pieces=seen["target_pieces"], layer=[0, 0], head=[0, heads])


def test_a_score_does_not_depend_on_what_is_copied(ask):
    texts = [f"庭に{{{name}}}が{number}咲く。" for name, number in (("name", 12345), ("other", 56))]
    translations = ["{name}, 12,345 flowers", "{other}, 56 flowers"]
    scores = ask("score", texts, translation=translations)["log_probability"]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5)
    swapped = ask("score", texts, translation=translations[::-1])["log_probability"]
    assert (np.abs(swapped - scores) > 0.1).all()

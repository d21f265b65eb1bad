import numpy as np
import pytest
import tensorflow as tf

from keras_attn.translation.config import Config
from keras_attn.translation.corpus.cleaning import Pair
from keras_attn.translation.export import signatures
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization import tokenizer

# Sentences written for this test.
PAIRS = [
    Pair("庭に花が咲く。", "Flowers bloom in the garden."),
    Pair("姉は歌が上手だ。", "My sister sings well."),
    Pair("夜は星が見える。", "You can see stars at night."),
]
TEXTS = tf.constant([*(pair.source for pair in PAIRS), "", "花" * 60, "星が咲く。歌が見える。" * 4])
CONFIG = Config(
    vocab_size=330,
    max_pieces=24,
    beam_size=2,
    num_encoder_layers=1,
    num_decoder_layers=1,
    num_hiddens=8,
    ffn_num_hiddens=8,
    num_heads=2,
    precision="float32",
)


@pytest.fixture(scope="module")
def make_signatures(tmp_path_factory):
    """Function that returns signatures of the same model with graphs of their own."""
    tokenizers = tokenizer.load_or_train(tmp_path_factory.mktemp("t"), PAIRS, CONFIG)
    model = make_model(*(side.vocab_size for side in tokenizers), CONFIG)
    random = np.random.default_rng(6)
    model.set_weights([(w == 1) + random.normal(0, 0.5, w.shape) for w in model.get_weights()])
    return lambda: Signatures(model, tokenizers, CONFIG)


@pytest.fixture(scope="module")
def served(make_signatures):
    return make_signatures()


def test_a_request_larger_than_what_is_searched_at_once_keeps_its_order(
    served, make_signatures, monkeypatch
):
    expected = served.translate(TEXTS)["translation"].numpy().tolist()
    monkeypatch.setattr(signatures, "ROWS_AT_ONCE", 2)
    few_at_once = make_signatures()
    assert few_at_once.translate(TEXTS)["translation"].numpy().tolist() == expected
    assert expected[3] == b"" and all(text for i, text in enumerate(expected) if i != 3)


def test_nbest_of_a_text_in_parts_joins_them_and_adds_their_scores(served):
    parts = tf.constant(["星が咲く。", "歌が見える。"] * 4)
    whole = served.nbest(TEXTS[-1:])
    alone = served.nbest(parts)
    for n in range(CONFIG.beam_size):
        assert whole["translations"][0, n] == b" ".join(alone["translations"][:, n].numpy())
    np.testing.assert_allclose(
        whole["scores"][0], tf.reduce_sum(alone["scores"], axis=0), rtol=1e-4
    )


def test_no_text_gives_no_rows_in_any_signature(served):
    none = tf.zeros([0], tf.string)
    assert served.translate(none)["translation"].shape == (0,)
    assert served.nbest(none)["scores"].shape == (0, CONFIG.beam_size)
    assert served.score(none, none)["log_probability"].shape == (0,)
    assert served.attend(none)["alternatives"].shape[0] == 0


def one(served, text, **terms):
    given = {name: tf.constant(strings) for name, strings in terms.items()}
    answer = served.glossary(tf.constant([text]), **given) if terms else None
    found = answer or served.translate(tf.constant([text]))
    return found["translation"][0].numpy().decode()


def test_sentences_and_lines_are_translated_one_by_one_and_come_back_in_their_places(served):
    first, second = (one(served, pair.source) for pair in PAIRS[:2])
    text = f"{PAIRS[0].source}{PAIRS[1].source}\n\n{PAIRS[1].source}\r\n"
    assert one(served, text) == f"{first} {second}\n\n{second}\r\n"


@pytest.mark.parametrize("text", ["😊", "？！", "Hello, world.", "123", "한국", "…", "😀\n\n--\n"])
def test_text_that_is_not_of_the_language_is_returned_as_given(served, text):
    assert one(served, text) == text
    assert not served.nbest(tf.constant([text]))["is_uncertain"][0]


@pytest.mark.parametrize(
    "span", ["https://example.com/a?b=1", "{name}", "%s", "<b>", "me@example.com", "🎉"]
)
def test_addresses_placeholders_and_tags_are_copied(served, span):
    answer = one(served, f"庭に{span}が咲く。")
    assert span in answer
    assert span not in one(served, "庭に花が咲く。")


def test_terms_of_a_glossary_get_their_translations(served):
    terms = {"term": ["姉", "歌"], "term_translation": ["Hanako", "歌"]}
    answer = one(served, "姉は歌が上手だ。", **terms)
    assert "Hanako" in answer and "歌" in answer
    none = {"term": tf.zeros([0], tf.string), "term_translation": tf.zeros([0], tf.string)}
    assert one(served, PAIRS[1].source, **none) == one(served, PAIRS[1].source)


@pytest.mark.parametrize(
    ("limit", "expected"), [(-1e9, [False, True, False]), (0.0, [True, True, False])]
)
def test_rare_characters_and_unlikely_translations_are_uncertain(
    make_signatures, monkeypatch, limit, expected
):
    texts = tf.constant([PAIRS[0].source, "庭に龘が咲く。", ""])
    monkeypatch.setattr(signatures, "UNCERTAIN_BELOW", limit)
    assert make_signatures().nbest(texts)["is_uncertain"].numpy().tolist() == expected


def test_samples_and_attention_copy_too(served):
    text = tf.constant(["庭に{name}が1234咲く。"])
    settings = {"seed": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0}
    given = {name: tf.constant(value) for name, value in settings.items()}
    sampled = served.sample(text, **given)["translation"][0].numpy().decode()
    assert "{name}" in sampled and "1,234" in sampled
    seen = served.attend(text)
    assert seen["translation"][0].numpy() == served.translate(text)["translation"][0].numpy()
    assert {b"{name}", b"1,234"} <= set(seen["source_pieces"][0].numpy())


def test_the_likeliest_piece_is_that_of_the_search_step_and_has_the_probability_of_a_score(served):
    seen = served.attend(TEXTS[:4])
    pieces, alternatives = seen["target_pieces"].numpy(), seen["alternatives"].numpy()
    probabilities = seen["probabilities"].numpy()
    found = served.nbest(TEXTS[:3])["scores"][:, 0].numpy()
    lengths = (pieces != b"").sum(1)
    for row in range(3):
        total = np.log(probabilities[row, : lengths[row]]).sum()
        penalty = ((CONFIG.length_penalty_offset + lengths[row]) / 6) ** CONFIG.length_penalty
        np.testing.assert_allclose(total / penalty, found[row], rtol=1e-3)
        # Forced decoding of the first pieces alone.
        ids = served.target.string_to_id(tf.constant(pieces[row : row + 1, : lengths[row]]))
        source = served._source_ids(TEXTS[row : row + 1])
        inputs = tf.concat([[[2]], ids[:, :-1]], axis=1)
        logits = served.model((source, inputs))[0].numpy()
        logits[:, [0, 1, 2, *range(4, 12)]] = -np.inf  # forbidden ids, and slots
        logits[24:, 4:] = -np.inf  # after the maximum length
        likeliest = served.target.id_to_string(tf.argmax(logits, -1, tf.int32)).numpy()
        assert alternatives[row, : lengths[row], 0].tolist() == likeliest.tolist()
    assert (alternatives[pieces == b""] == b"").all()
    assert not seen["alternative_probabilities"].numpy()[pieces == b""].any()
    assert pieces[3].tolist() == [b"</s>"] + [b""] * (pieces.shape[1] - 1)


def test_texts_go_on_from_the_pieces_of_each_also_from_copied_ones(served):
    text = tf.constant(["庭に{name}が1234咲く。", "{name}と{name}が咲く。", PAIRS[0].source])
    seen = served.attend(text)
    pieces = seen["target_pieces"].numpy()
    again = served.continue_(text, tf.constant(pieces))
    np.testing.assert_array_equal(again["target_pieces"], pieces)
    np.testing.assert_array_equal(again["translation"], seen["translation"])
    begin = tf.constant([["{name}", "", "1,234"], ["{name}", "{name}", ""], ["▁", "", ""]])
    found = served.continue_(text, begin)
    assert [row[:2] for row in found["target_pieces"].numpy().tolist()[:2]] == [
        [b"{name}", b"1,234"],
        [b"{name}", b"{name}"],
    ]
    translations = [one.decode() for one in found["translation"].numpy()]
    assert translations[0].startswith("{name}1,234") and translations[0].count("{name}") == 1
    assert translations[1].startswith("{name}{name}")
    # A span that the source does not have.
    none = served.continue_(text[:1], tf.constant([["{name}", "{name}"]]))
    assert none["translation"][0] == b""
    assert served.continue_(text[:0], tf.zeros([0, 0], tf.string))["translation"].shape == (0,)


def test_tokenizers_without_slots_copy_nothing_but_translate(served, monkeypatch):
    monkeypatch.setattr(served, "_has_slots", False)
    assert one(served, PAIRS[0].source) and one(served, "庭に{name}が咲く。")


def test_a_score_does_not_depend_on_what_is_copied(served):
    texts = [f"庭に{{{name}}}が{number}咲く。" for name, number in (("name", 1234), ("other", 56))]
    translations = ["{name}, 1,234 flowers", "{other}, 56 flowers"]
    scores = served.score(tf.constant(texts), tf.constant(translations))["log_probability"]
    np.testing.assert_allclose(scores[0], scores[1], rtol=1e-5)
    swapped = served.score(tf.constant(texts), tf.constant(translations[::-1]))["log_probability"]
    assert (np.abs(swapped - scores) > 0.1).all()

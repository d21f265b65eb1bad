import pytest
import tensorflow as tf

from keras_attn.translation.tokenization import language_tokens

TEXTS = [
    (">>por<< Good morning.", ">>por<<", " Good morning."),
    ("Good morning.", "", "Good morning."),
    ("Good >>por<<", "", "Good >>por<<"),
    (">>por", "", ">>por"),
    (">>a<<>>b<<x\ny", ">>a<<", ">>b<<x\ny"),
    ("", "", ""),
    (">>日本<<猫", ">>日本<<", "猫"),
]


@pytest.mark.parametrize(("text", "token", "rest"), TEXTS)
def test_a_token_before_the_text_is_split_off(text, token, rest):
    assert language_tokens.split(text) == (token, rest)


def test_the_graph_splits_as_python_does():
    tokens, rests = language_tokens.split_in_graph(tf.constant([text for text, *_ in TEXTS]))
    found = zip(tokens.numpy(), rests.numpy(), strict=True)
    assert [(one.decode(), rest.decode()) for one, rest in found] == [row[1:] for row in TEXTS]


def test_language_tokens_are_found_among_pieces():
    pieces = [">>por<<", ">>", "<<", "a>>b<<", "\u2581>>x<<", ">>zho_Hans<<"]
    assert language_tokens.among(pieces) == [">>por<<", ">>zho_Hans<<"]

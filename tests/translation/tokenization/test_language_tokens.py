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


def test_a_token_before_the_text_is_split_off_in_the_graph_as_in_python():
    tokens, rests = language_tokens.split_in_graph(tf.constant([text for text, *_ in TEXTS]))
    for (text, *expected), token, rest in zip(TEXTS, tokens.numpy(), rests.numpy(), strict=True):
        assert [token.decode(), rest.decode()] == [*language_tokens.split(text)] == expected


def test_language_tokens_are_found_among_pieces():
    pieces = [">>por<<", ">>", "<<", "a>>b<<", "\u2581>>x<<", ">>zho_Hans<<"]
    assert language_tokens.among(pieces) == [">>por<<", ">>zho_Hans<<"]

import sys
import unicodedata

import pytest
import tensorflow as tf

from keras_attn.translation.corpus.characters import unify, unify_in_graph
from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.tokenization import tokenizer
from keras_attn.translation.tokenization.in_graph import GraphTokenizer

# All but unassigned code points, surrogates and code points for private use.
CHARACTERS = [
    chr(c)
    for c in range(1, sys.maxunicode + 1)
    if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
]


@pytest.fixture(scope="module")
def cut():
    texts = ["あの人は本を読む。", "Ａ１を２冊", "が ぱ é 葛 辻 ～ 〜 -"]
    return tokenizer.train(texts, vocab_size=330, character_coverage=1.0)


def in_graph(texts):
    return [t.decode() for t in unify_in_graph(tf.constant(texts)).numpy()]


def test_every_character_is_the_same_for_training_and_service_and_in_its_decomposed_form(cut):
    texts = [f"あ{c}の" for c in CHARACTERS]
    assert in_graph(texts) == [unify(text) for text in texts]
    assert cut.encode([clean_text(text) for text in texts]) == cut.encode(texts)
    decomposed = [unicodedata.normalize("NFD", c) for c in CHARACTERS]
    changed = [(c, d) for c, d in zip(CHARACTERS, decomposed, strict=True) if c != d]
    assert len(changed) > 10_000
    assert cut.encode([d for _, d in changed]) == cut.encode([c for c, _ in changed])


def test_the_graph_tokenizes_what_nobody_sees_as_training_does(cut):
    plain_of = {
        "葛\U000e0100の\u00ad人\ufeff": "葛の人",  # variation, soft hyphen, byte order mark
        "\u202eあの人\u202c は\u200d本\u2060を": "あの人 は本を",
        "ｶﾞのﾊﾟ": "ガのパ",
        unicodedata.normalize("NFD", "が ぱ é"): "が ぱ é",
        "１\uff5e２": "1\u301c2",  # the wave dash of Windows is the wave dash
        "☂\ufe0fの": "☂の",
        "あ\x07の\u2028本": "あ の 本",
    }
    texts = list(plain_of)
    expected = cut.encode(texts)
    assert GraphTokenizer(cut.proto).tokenize(tf.constant(texts)).to_list() == expected
    assert cut.encode(list(plain_of.values())) == expected
    assert unify("10時\uff5e12時") == "10時\u301c12時" == clean_text("10時\uff5e12時")

import sys
import unicodedata

import tensorflow as tf

from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.text.characters import REPLACEMENTS, unify
from keras_attn.translation.text.in_graph import replace_in_graph
from keras_attn.translation.tokenization import tokenizer

# All but unassigned code points, surrogates and code points for private use.
CHARACTERS = [
    chr(c)
    for c in range(1, sys.maxunicode + 1)
    if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")
]


def test_every_character_is_the_same_for_training_and_service_and_in_its_decomposed_form():
    known = ["あの人は本を読む。", "Ａ１を２冊", "が ぱ é 葛 辻 ～ 〜 -"]
    cut = tokenizer.train(known, vocab_size=330, character_coverage=1.0)
    texts = [f"あ{c}の" for c in CHARACTERS]
    in_graph = replace_in_graph(tf.constant(texts), REPLACEMENTS).numpy()
    assert [text.decode() for text in in_graph] == [unify(text) for text in texts]
    assert cut.encode([clean_text(text) for text in texts]) == cut.encode(texts)
    decomposed = [unicodedata.normalize("NFD", c) for c in CHARACTERS]
    changed = [(c, d) for c, d in zip(CHARACTERS, decomposed, strict=True) if c != d]
    assert len(changed) > 10_000
    assert cut.encode([d for _, d in changed]) == cut.encode([c for c, _ in changed])

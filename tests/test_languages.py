import pytest
import tensorflow as tf

from keras_attn.languages import LANGUAGES, Language, code_of, read_language
from keras_attn.serving.apis.libretranslate import detected
from keras_attn.translation.corpus.cleaning import has_wrong_script
from keras_attn.translation.corpus.load import load_corpus
from keras_attn.translation.evaluation.metrics import score
from keras_attn.translation.text.noise import rates
from keras_attn.translation.text.placeholders import mask
from keras_attn.translation.text.sentences import is_in_language


def test_a_code_means_one_language_with_or_without_a_region():
    codes = [code for first, row in LANGUAGES.items() for code in (first, *row.also)]
    assert len(codes) == len(set(codes))
    for first, row in LANGUAGES.items():
        for code in (first, *row.also, f"{first}-XY", f"{first.upper()}_xy"):
            assert code_of(code) == first and read_language(code) == row
    assert read_language("eo") == Language("eo")
    facts = [(row.coverage, row.bleu) for row in map(read_language, ("ja-JP", "zh", "de"))]
    assert facts == [(0.9995, "char"), (0.9995, "char"), (1.0, "13a")]


@pytest.mark.slow  # all of the corpus, twice
def test_a_corpus_is_found_by_any_code_of_its_languages():
    one, other = (load_corpus("everyday", *codes) for codes in (("ja", "en"), ("jpn", "en-US")))
    assert one.test == other.test and one.train == other.train


def test_a_new_language_is_a_row(monkeypatch):
    text = "დიახ. არა."
    assert not has_wrong_script("yes", "ka")
    row = Language("Georgian", ("Georgian",), (), "", "char", 0.999, "english", "chinese")
    monkeypatch.setitem(LANGUAGES, "ka", row)
    assert read_language("ka-GE").joiner == ""
    assert is_in_language(tf.constant([text, "yes", "12"]), "ka").numpy().tolist() == [True, 0, 0]
    assert has_wrong_script("yes", "ka") and not has_wrong_script(text, "ka")
    assert "tok:char" in score([text], [(text,)], "ka").bleu_signature
    assert "\ue000月日" in mask(tf.constant(["5月12日"]), "ja", "ka")[0].numpy()[0].decode()
    assert rates("ka-GE") == rates("zh") != rates("de")
    assert detected(text, [("ka", "en")])[0] == {"confidence": 100, "language": "ka"}

import numpy as np
import pytest

from keras_attn.serving import glossary
from keras_attn.serving.errors import RequestError
from keras_attn.serving.settings import Settings

LIMITS = Settings(max_terms=3, max_term_characters=5)


def inputs(terms, translations):
    return {
        "term": np.array([term.encode() for term in terms], object),
        "term_translation": np.array([one.encode() for one in translations], object),
    }


def test_terms_and_translations_keep_their_order():
    found = glossary.from_member({"glossary": {"木村": "Kimura", "Aoi": "Aoi", "b64": ""}})
    assert [term.decode() for term in found["term"]] == ["木村", "Aoi", "b64"]
    assert [term.decode() for term in found["term_translation"]] == ["Kimura", "Aoi", ""]


@pytest.mark.parametrize("document", [{}, {"glossary": {}}, {"signature_name": "nbest"}])
def test_without_terms_there_are_no_inputs(document):
    assert glossary.from_member(document) == {}


@pytest.mark.parametrize("wrong", [None, 1, "木村", ["木村"], {"木村": None}, {"木村": ["Kimura"]}])
def test_what_is_no_glossary_is_refused_in_a_sentence(wrong):
    with pytest.raises(RequestError, match="maps each term to its translation") as caught:
        glossary.from_member({"glossary": wrong})
    assert caught.value.status == 400


def test_a_signature_that_takes_no_glossary_is_named():
    with pytest.raises(RequestError, match='Received: "nbest"'):
        glossary.from_member({"signature_name": "nbest", "glossary": {"a": "A"}})


@pytest.mark.parametrize(
    ("terms", "translations"),
    [([], []), (["犬" * 5], ["D" * 5]), (["a", "b", "c"], ["", " ", "c"])],
)
def test_terms_within_the_limits_are_taken(terms, translations):
    glossary.check(inputs(terms, translations), LIMITS)


@pytest.mark.parametrize(
    ("terms", "translations", "says"),
    [
        (["a"] * 4, ["b"] * 4, "at most 3 terms. Received: 4"),
        (["犬" * 6], ["b"], "at most 5 characters each. Received: 6"),
        (["a"], ["b" * 7], "at most 5 characters each. Received: 7"),
        (["a", "\u3000"], ["b", "c"], "must not be empty"),
        (["a", "b"], ["c"], "Received: 2 in 'term', 1 in 'term_translation'"),
    ],
)
def test_terms_beyond_the_limits_are_refused_with_the_limit(terms, translations, says):
    with pytest.raises(RequestError, match=says) as caught:
        glossary.check(inputs(terms, translations), LIMITS)
    assert caught.value.status == 400

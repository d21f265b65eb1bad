"""The API of LibreTranslate, by its own client and by hand."""

import pytest
from libretranslatepy import LibreTranslateAPI

from keras_attn.serving import libretranslate
from keras_attn.serving.errors import RequestError

PAIR = {"source": "ja", "target": "en"}
PAIRS = [("ja", "en"), ("de", "en"), ("ja", "zh")]


def test_their_own_client_translates(server):
    api = LibreTranslateAPI(server)
    assert api.translate("犬と猫 & 鳥", "ja", "en") == "1: 犬と猫 & 鳥"
    assert [language["code"] for language in api.languages()] == ["ja", "en"]
    assert api.detect("犬と猫")[0]["language"] == "ja"


def test_a_text_or_a_list_of_texts_is_translated(client):
    assert client.post("/translate", json={"q": "犬", **PAIR}).json() == {"translatedText": "1: 犬"}
    for content in ({"json": {"q": ["犬", ""], **PAIR}}, {"data": {"q": ["犬", ""], **PAIR}}):
        assert client.post("/translate", **content).json() == {"translatedText": ["1: 犬", ""]}


def test_alternatives_are_the_next_best(client):
    one = client.post("/translate", json={"q": "犬", "alternatives": 3, **PAIR}).json()
    assert one == {"translatedText": "1: 犬", "alternatives": ["1: 犬 (second)"]}
    several = client.post("/translate", json={"q": ["犬"], "alternatives": 1, **PAIR}).json()
    assert several["alternatives"] == [["1: 犬 (second)"]]


def test_the_language_is_told_if_it_is_asked_for(client):
    document = {"q": "犬です", "source": "auto", "target": "en", "format": "html"}
    assert client.post("/translate", json=document).json() == {
        "translatedText": "1: 犬です",
        "detectedLanguage": {"confidence": 100, "language": "ja"},
    }


@pytest.mark.parametrize(
    ("text", "language", "confidence"),
    [("犬です", "ja", 100), ("A dog.", "en", 100), ("犬 dog", "en", 75), ("12!", "ja", 0)],
)
def test_a_language_is_as_sure_as_its_share_of_letters(text, language, confidence):
    first = libretranslate.detect({"q": text}, PAIRS[:1])[0]
    assert first == {"confidence": confidence, "language": language}


def test_languages_of_the_same_letters_are_equally_likely():
    found = {one["language"]: one["confidence"] for one in libretranslate.detected("dog", PAIRS)}
    assert found == {"de": 50, "en": 50, "ja": 0, "zh": 0}
    found = {one["language"]: one["confidence"] for one in libretranslate.detected("犬です", PAIRS)}
    assert found == {"ja": 75, "zh": 25, "de": 0, "en": 0}


@pytest.mark.parametrize(
    ("text", "source", "target", "pair"),
    [
        ("dog", "ja", "en", ("ja", "en")),
        ("Hund", "auto", "en", ("de", "en")),
        ("犬です", "auto", "en", ("ja", "en")),
        ("Hund", "auto", "zh", ("ja", "zh")),
        ("12", "auto", "en", ("ja", "en")),
    ],
)
def test_the_languages_choose_the_model(text, source, target, pair):
    document = {"q": text, "source": source, "target": target}
    assert libretranslate.question(document, PAIRS).pair == pair


def test_a_pair_without_a_model_is_refused_with_the_pairs_that_have_one():
    with pytest.raises(RequestError, match="zh is not available .* from de. .* ja to en, de to en"):
        libretranslate.question({"q": "a", "source": "de", "target": "zh"}, PAIRS)


def test_scores_and_certainty_are_told_if_they_are_asked_for(client):
    document = {"q": "犬?", "scores": True, **PAIR}
    answer = client.post("/translate", json=document).json()
    assert answer == {"translatedText": "1: 犬?", "scores": [-0.25], "isUncertain": True}
    document = {"q": ["犬"], "scores": True, "alternatives": 1, **PAIR}
    answer = client.post("/translate", json=document).json()
    assert (answer["scores"], answer["isUncertain"]) == ([[-0.25, -1.5]], [False])


def test_a_glossary_is_used(client):
    document = {"q": "犬と猫", "glossary": {"犬": "dog"}, **PAIR}
    assert client.post("/translate", json=document).json() == {"translatedText": "1: dogと猫"}


def test_languages_have_names_and_targets():
    assert libretranslate.languages([("ja", "xx")]) == [
        {"code": "ja", "name": "Japanese", "targets": ["xx"]},
        {"code": "xx", "name": "xx", "targets": []},
    ]

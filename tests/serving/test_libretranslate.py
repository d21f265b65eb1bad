"""The API of LibreTranslate, by its own client and by hand."""

import pytest
from libretranslatepy import LibreTranslateAPI

from keras_attn.serving import libretranslate
from keras_attn.translation.config import Config

PAIR = {"source": "ja", "target": "en"}
CONFIG = Config()


@pytest.fixture(scope="module")
def client(write_echo, tmp_path_factory, open_client):
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    write_echo(folder, 1)
    with open_client(folder, max_rows=20, queue_rows=20) as client:
        yield client


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
    first = libretranslate.detect({"q": text}, CONFIG)[0]
    assert first == {"confidence": confidence, "language": language}


def test_languages_have_names_and_targets():
    assert libretranslate.languages(Config(source="ja", target="xx")) == [
        {"code": "ja", "name": "Japanese", "targets": ["xx"]},
        {"code": "xx", "name": "xx", "targets": []},
    ]


@pytest.mark.parametrize(
    ("document", "status", "says"),
    [
        (PAIR, 400, "missing q"),
        ({"q": "犬", "source": "ja"}, 400, "missing target"),
        ({"q": "犬", "target": "en"}, 400, "missing source"),
        ({"q": "犬", "source": "de", "target": "en"}, 400, '"de" is not supported as source'),
        ({"q": "犬", "source": "ja", "target": "fr"}, 400, "This model has en."),
        ({"q": "犬", "format": "pdf", **PAIR}, 400, '"pdf" format is not supported'),
        ({"q": "犬", "alternatives": -1, **PAIR}, 400, "alternatives"),
        ({"q": "犬", "alternatives": "many", **PAIR}, 400, "alternatives"),
        ({"q": [], **PAIR}, 400, "'q' must be"),
        ({"q": ["犬", 3], **PAIR}, 400, "'q' must be"),
        ({"q": ["犬"] * 21, **PAIR}, 413, "at most 20 texts"),
    ],
)
def test_wrong_requests_are_refused_in_a_sentence(client, document, status, says):
    answer = client.post("/translate", json=document)
    assert answer.status_code == status
    assert says in answer.json()["error"]

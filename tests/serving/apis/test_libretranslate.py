"""The API of LibreTranslate, by its own client and by hand."""

import time

import pytest
from libretranslatepy import LibreTranslateAPI

from keras_attn.serving.apis import libretranslate
from keras_attn.serving.apis.streaming import split
from keras_attn.serving.errors import RequestError
from keras_attn.serving.markup import parse

PAIR = {"source": "ja", "target": "en"}
PAIRS = [("ja", "en"), ("de", "en"), ("ja", "zh")]


def test_their_own_client_translates(server):
    api = LibreTranslateAPI(server)
    assert api.translate("犬と猫 & 鳥", "ja", "en") == "1: 犬と猫 & 鳥"
    assert [language["code"] for language in api.languages()] == ["ja", "en"]
    assert api.detect("犬と猫")[0]["language"] == "ja"


def test_texts_are_translated_with_what_is_asked_for(client):
    second, flags = "1: 犬 (second)", {"isUncertain": True, "isOtherLanguage": False}
    several = {"translatedText": ["1: 犬"], "alternatives": [[second]]}
    several |= {"scores": [[-0.25, -1.5]], "isUncertain": [False], "isOtherLanguage": [False]}
    other = {"alternatives": [], "scores": [0.0], "isUncertain": False, "isOtherLanguage": True}
    language = {"confidence": 100, "language": "ja"}
    detected = {"translatedText": "1: 犬です", "detectedLanguage": language}
    for asked, answer in (
        ({"q": "犬"}, {"translatedText": "1: 犬"}),
        ({"q": ["犬", ""]}, {"translatedText": ["1: 犬", ""]}),
        ({"q": "犬", "alternatives": 3}, {"translatedText": "1: 犬", "alternatives": [second]}),
        ({"q": ["犬"], "alternatives": 1, "scores": True}, several),
        ({"q": "犬?", "scores": True}, {"translatedText": "1: 犬?", "scores": [-0.25], **flags}),
        ({"q": "~a", "alternatives": 2, "scores": True}, {"translatedText": "1: ~a", **other}),
        ({"q": "犬と猫", "glossary": {"犬": "dog"}}, {"translatedText": "1: dogと猫"}),
        ({"q": "犬です", "source": "auto", "format": "html"}, detected),
    ):
        assert client.post("/translate", json={**PAIR, **asked}).json() == answer


def test_members_may_be_in_the_query_or_in_a_form(client):
    members = {"q": "犬 & 猫", "scores": "true", **PAIR}
    for given in (
        {"params": members},  # as deep-translator sends them
        {"data": members},
        {"files": {name: (None, text) for name, text in members.items()}},
        {"params": PAIR, "json": {"q": "犬 & 猫", "scores": True}},
    ):
        found = client.post("/translate", **given).json()
        assert (found["translatedText"], found["scores"]) == ("1: 犬 & 猫", [-0.25]), given
    form = client.post("/translate", data={"q": ["犬", ""], **PAIR})
    assert form.json() == {"translatedText": ["1: 犬", ""]}
    assert client.post("/detect", params={"q": "犬"}).json()[0]["language"] == "ja"


def test_html_is_translated_between_its_tags(client):
    for html, expected in (
        ("<p>猫が好きです。</p>", "<p>1: 猫が好きです。</p>"),
        ("<p>\n 猫が\n好き\n</p>", "<p>\n 1: 猫が 好き\n</p>"),
        ("<ul><li>犬</li><li><b>猫</b></li></ul>", "<ul><li>1: 犬</li><li><b>猫</b></li></ul>"),
        ("猫が<b>好き</b>です<br>犬", "1: 猫が<b>好き</b>です<br>犬"),
        ("<p> <b>猫</b>です </p>", "<p> 1: <b>猫</b>です </p>"),
        ("<!-- 犬 --><script>if (a < b)</script>", "<!-- 犬 --><script>if (a < b)</script>"),
        ('<a title="a>b">&#29483;&nbsp;&lt;3</a>', '<a title="a>b">1: 猫 &lt;3</a>'),
        ("", ""),
    ):
        body = {"q": [html], "format": "html", **PAIR}
        for more in ({}, {"scores": True}):
            found = client.post("/translate", json={**body, **more}).json()
            assert found["translatedText"] == [expected]
    refused = client.post("/translate/stream", json={**body, "q": "<p>犬</p>"})
    assert refused.status_code == 400 and "not in HTML" in refused.json()["error"]


def test_markup_is_found_in_linear_time():
    start = time.process_time()
    for part in ("<!--", '<a"', "<script>", "<!", "<", "<a'<a\"", "&"):
        page = parse(part * 50_000)
        assert page.filled(page.text) == part * 50_000
    assert time.process_time() - start < 5


def test_the_graph_keeps_the_lines_of_blocks():
    blocks = [
        "猫だ。犬だ。",
        "・りんご",
        "田中：はい。",
        "「はい。」と言う。",
        "<b>猫</b>です。",
        "⭐",
        "3",
    ]
    for lines in (blocks, blocks[::-1]):
        page = parse("".join(f"<p>{line}</p>" for line in lines))
        _, around = split(page.text, "en")
        assert page.filled("x".join(around)).count("<p>") == len(lines)


def test_a_language_is_as_sure_as_its_share_of_letters():
    table = {"犬です": ("ja", 100), "A dog.": ("en", 100), "犬 dog": ("en", 75), "12!": ("ja", 0)}
    for text, (language, confidence) in table.items():
        first = libretranslate.detect({"q": text}, PAIRS[:1])[0]
        assert first == {"confidence": confidence, "language": language}
    # Languages of the same letters are equally likely.
    for text, expected in (
        ("dog", {"de": 50, "en": 50, "ja": 0, "zh": 0}),
        ("犬です", {"ja": 75, "zh": 25, "de": 0, "en": 0}),
    ):
        found = libretranslate.detected(text, PAIRS)
        assert {one["language"]: one["confidence"] for one in found} == expected


def test_the_languages_choose_the_model():
    for text, source, target, pair in (
        ("dog", "ja", "en", ("ja", "en")),
        ("Hund", "auto", "en", ("de", "en")),
        ("犬です", "auto", "en", ("ja", "en")),
        ("Hund", "auto", "zh", ("ja", "zh")),
        ("12", "auto", "en", ("ja", "en")),
    ):
        document = {"q": text, "source": source, "target": target}
        assert libretranslate.parse_request(document, PAIRS).pair == pair
    with pytest.raises(RequestError, match="zh is not available .* from de. .* ja to en, de to en"):
        libretranslate.parse_request({"q": "a", "source": "de", "target": "zh"}, PAIRS)
    assert libretranslate.languages([("ja", "xx")]) == [
        {"code": "ja", "name": "Japanese", "targets": ["xx"]},
        {"code": "xx", "name": "xx", "targets": []},
    ]

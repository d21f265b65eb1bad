"""A long text is translated sentence by sentence, and the whole is that of one request."""

import asyncio
import json
from http import HTTPStatus

import pytest

from keras_attn.serving.apis.streaming import split
from keras_attn.serving.app import Server
from keras_attn.serving.errors import RequestError
from keras_attn.serving.inference import Inference
from keras_attn.serving.settings import Settings

PAIR = {"source": "ja", "target": "en"}
TEXT = "犬だ。\n\n「猫？」と言う。鳥だ！🐦魚だ。\n牛"
SENTENCES = ["犬だ。", "「猫？」と言う。", "鳥だ！", "魚だ。", "牛"]
BETWEEN = ["", "\n\n", " ", "🐦 ", "\n"]


@pytest.fixture
def events(client):
    """`events(text, **more)`: names and data of the events of the response."""

    def events(text, **more):
        response = client.post("/translate/stream", json={"q": text, **PAIR, **more})
        assert response.headers["content-type"].startswith("text/event-stream")
        *parts, end = response.text.split("\n\n")
        assert end == ""
        lines = [part.split("\n") for part in parts]
        return [(name.removeprefix("event: "), json.loads(data[6:])) for name, data in lines]

    return events


def test_sentences_and_what_is_between_them_are_the_text():
    texts = [TEXT, "", "\n", "犬。 ", "🙂犬。\r\n\r\n🙂", "a.b 犬。No. 3。", "犬\x1f猫。"]
    for text in texts:
        sentences, around = split(text, "ja")
        joined = around[0] + "".join(a + b for a, b in zip(sentences, around[1:], strict=True))
        assert joined.replace(" ", "") == text.replace(" ", "").replace("\x1f", "")


def test_each_sentence_is_an_event_and_the_last_has_the_whole(events):
    *parts, (name, last) = events(TEXT)
    assert [name for name, _ in parts] == ["sentence"] * 5
    assert [data for _, data in parts] == [
        {"index": index, "source": source, "before": before, "translation": f"1: {source}"}
        for index, (source, before) in enumerate(zip(SENTENCES, BETWEEN, strict=True))
    ]
    assert name == "done"
    whole = "".join(f"{data['before']}{data['translation']}" for _, data in parts)
    assert whole == "1: 犬だ。\n\n1: 「猫？」と言う。 1: 鳥だ！🐦 1: 魚だ。\n1: 牛"
    assert last == {"translatedText": whole}
    assert events(" ") == [("done", {"translatedText": ""})]
    # A glossary holds for each sentence.
    *_, (_, last) = events("犬だ。犬か。\n", glossary={"犬": "dog"})
    assert last == {"translatedText": "1: dogだ。 1: dogか。\n"}


def test_scores_are_those_of_a_request_for_each_sentence(client, events):
    *parts, _ = events("犬だ。猫？~a", scores=True)
    assert [data["isOtherLanguage"] for _, data in parts] == [False, False, True]
    for _, data in parts:
        document = {"q": data["source"], "scores": True, **PAIR}
        alone = client.post("/translate", json=document).json()
        found = {"translatedText": data["translation"], "scores": [data["score"]]}
        assert found | {flag: data[flag] for flag in data if flag.startswith("is")} == alone


def test_a_text_may_be_longer_than_its_sentences(client, events):
    text = "犬がいる。" * 100
    assert len(events(text)) == 101
    assert client.post("/translate", json={"q": text, **PAIR}).status_code == 413


def test_an_error_after_the_first_sentence_is_the_last_event(events, monkeypatch):
    compute, windows = Inference.compute, []

    async def compute_once(self, servable, name, inputs, client):
        windows.append(len(inputs["text"]))
        if len(windows) == 3:
            raise RequestError("The server is busy.", HTTPStatus.SERVICE_UNAVAILABLE)
        return await compute(self, servable, name, inputs, client)

    monkeypatch.setattr(Inference, "compute", compute_once)
    found = events("犬。" * 9)
    assert windows == [1, 2, 4]
    assert [name for name, _ in found] == ["sentence"] * 3 + ["error"]
    assert found[-1][1] == {"error": "The server is busy."}


def test_a_client_that_hangs_up_ends_the_stream_and_frees_the_version(echo, write_echo):
    async def scenario():
        server = Server(echo, Settings(batch_wait=0.1))
        versions = server.models["ja-en"]
        await versions.poll()
        hangs_up, parts = asyncio.Event(), []
        body = json.dumps({"q": "犬。" * 100, **PAIR}).encode()
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive():
            if messages:
                return messages.pop()
            await hangs_up.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.body":
                parts.append(message["body"])
                hangs_up.set()

        path = "/translate/stream"
        scope = {"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}}
        scope |= {"method": "POST", "path": path, "raw_path": path.encode()}
        await server.app()({**scope, "query_string": b"", "headers": []}, receive, send)
        write_echo(echo, 2)
        await versions.poll()
        assert len(parts) < 10
        assert {one.version: one.state for one in versions.seen()} == {2: "AVAILABLE", 1: "END"}

    asyncio.run(scenario())

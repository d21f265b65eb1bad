"""A new version appears while clients call: no error, and both versions' answers are right."""

import shutil
from urllib.parse import urlsplit

import httpx2 as httpx
from protocol_clients import Clients

NUM_CLIENTS = 12


def test_a_swap_loses_no_request(echo, write_echo, tmp_path, start_server, wait_until, free_port):
    port, newer = free_port(), write_echo(tmp_path / "aside", 3)
    with start_server(echo, poll_seconds=0.2, grpc_port=port) as url:

        def statuses():
            answer = httpx.get(f"{url}/v1/models/ja-en").json()["model_version_status"]
            return {one["version"]: (one["state"], one["status"]["error_code"]) for one in answer}

        def is_right(version, text, translation):
            number, _, rest = translation.partition(": ")
            said.append(int(number))
            return rest == text and version in (None, int(number))

        said = []
        address = urlsplit(url)
        texts = [f"text {number}" for number in range(100)]
        where = (address.hostname, address.port, port, "ja-en")
        with Clients(*where, texts, is_right, NUM_CLIENTS) as clients:
            wait_until(lambda: len(said) > 100)
            assert set(said) == {1}
            (echo / "2").mkdir()
            (echo / "2" / "saved_model.pb").write_bytes(b"half a model")
            wait_until(lambda: statuses().get("2") == ("END", "UNKNOWN"))
            newer.rename(echo / "3")
            wait_until(lambda: 3 in said)
            so_far = len(said)
            wait_until(lambda: len(said) > so_far + 100)
        assert clients.errors == []
        assert set(said) == {1, 3}
        # Once each client has an answer of the new version, the old one answers nobody.
        assert set(said[-NUM_CLIENTS:]) == {3}
        assert len(clients.protocols) == 3
        served, left, broken = ("AVAILABLE", "OK"), ("END", "OK"), ("END", "UNKNOWN")
        assert statuses() == {"1": left, "2": broken, "3": served}


def test_other_signatures_take_over(write_echo, tmp_path, examples, open_client, wait_until):
    folder = write_echo(tmp_path / "ja-en", 1, is_older=True).parent
    with open_client(folder, poll_seconds=0.1) as client:

        def ask(**body):
            return client.post("/v1/models/ja-en:predict", json=body)

        def settings():
            return client.get("/page/settings.json").json()

        nbest = {"signature_name": "nbest", "instances": ["a?"]}
        with_terms = {"instances": ["a"], "glossary": {"a": "A"}}
        assert "is_uncertain" not in ask(**nbest).json()["predictions"][0]
        refused = ask(**with_terms)
        assert refused.status_code == 400
        assert 'cannot use a glossary: it has no signature "glossary"' in refused.json()["error"]
        assert settings()["examples"] == []

        newer = write_echo(folder, 2)
        wait_until(lambda: settings()["version"] == 2)
        assert settings()["examples"] == examples
        assert ask(**nbest).json()["predictions"][0]["is_uncertain"] is True
        assert ask(**with_terms).json() == {"predictions": ["2: A"]}

        shutil.rmtree(newer)
        wait_until(lambda: settings()["version"] == 1)
        assert settings()["examples"] == []
        assert ask(**with_terms).status_code == 400

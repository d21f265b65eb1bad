"""A new version appears while clients call: no error, and both versions' answers are right."""

import shutil
import threading

import httpx2 as httpx

NUM_CLIENTS = 32


def call(url, number, done, answers, errors):
    """Ask again and again; remember which version answered each time."""
    with httpx.Client(base_url=url, timeout=30) as client:
        count = 0
        while not done.is_set():
            count += 1
            text = f"{number} {count}"
            try:
                response = client.post("/v1/models/ja-en:predict", json={"instances": [text]})
                (said,) = response.json()["predictions"]
            except Exception as error:  # any of them is what must not be
                errors.append(repr(error))
                return
            version, _, rest = said.partition(": ")
            if rest != text:
                errors.append((text, said))
            answers.append(int(version))


def test_no_request_is_lost_between_two_versions(echo, write_echo, start_server, wait_until):
    with start_server(echo, "--poll-seconds", "0.2") as (_, url):
        done, answers, errors = threading.Event(), [], []
        arguments = (done, answers, errors)
        clients = [
            threading.Thread(target=call, args=(url, number, *arguments))
            for number in range(NUM_CLIENTS)
        ]
        for client in clients:
            client.start()
        wait_until(lambda: len(answers) > 200)
        assert set(answers) == {1}
        write_echo(echo, 2)
        wait_until(lambda: 2 in answers)
        so_far = len(answers)
        wait_until(lambda: len(answers) > so_far + 200)
        done.set()
        for client in clients:
            client.join()
        assert errors == []
        # Once each client has an answer of the new version, the old one answers nobody.
        assert set(answers[-NUM_CLIENTS:]) == {2}
        states = {
            one["version"]: one["state"]
            for one in httpx.get(f"{url}/v1/models/ja-en").json()["model_version_status"]
        }
        assert states == {"1": "END", "2": "AVAILABLE"}
        gone = httpx.post(f"{url}/v1/models/ja-en/versions/1:predict", json={"instances": ["a"]})
        assert gone.status_code == 404


def test_a_version_with_other_signatures_and_examples_takes_over(
    write_echo, tmp_path, examples, start_server, wait_until
):
    folder = tmp_path / "ja-en"
    write_echo(folder, 1, is_older=True)
    with start_server(folder, "--poll-seconds", "0.2") as (_, url):

        def ask(**body):
            return httpx.post(f"{url}/v1/models/ja-en:predict", json=body)

        def settings():
            return httpx.get(f"{url}/page/settings.json").json()

        nbest = {"signature_name": "nbest", "instances": ["a?"]}
        with_terms = {"instances": ["a"], "glossary": {"a": "A"}}
        assert "is_uncertain" not in ask(**nbest).json()["predictions"][0]
        assert ask(**with_terms).status_code == 400
        assert settings()["examples"] == []

        newer = write_echo(folder, 2)
        wait_until(lambda: settings()["version"] == 2)
        assert settings()["examples"] == examples
        assert ask(**nbest).json()["predictions"][0]["is_uncertain"] is True
        assert ask(**with_terms).json() == {"predictions": ["2: A"]}
        metadata = httpx.get(f"{url}/v1/models/ja-en/metadata").json()
        assert "glossary" in metadata["metadata"]["signature_def"]["signature_def"]

        shutil.rmtree(newer)
        wait_until(lambda: settings()["version"] == 1)
        assert settings()["examples"] == []
        assert ask(**with_terms).status_code == 400
        assert 'keras_attn_model_version{model="ja-en"} 1.0' in httpx.get(f"{url}/metrics").text


def test_the_version_below_is_served_again_when_the_newest_is_taken_away(
    echo, write_echo, start_server, wait_until
):
    second = write_echo(echo, 2)
    with start_server(echo, "--poll-seconds", "0.2") as (_, url):
        assert httpx.get(f"{url}/healthz").json()["models"] == {"ja-en": 2}
        shutil.rmtree(second)
        wait_until(lambda: httpx.get(f"{url}/healthz").json()["models"] == {"ja-en": 1})
        response = httpx.post(f"{url}/v1/models/ja-en:predict", json={"instances": ["a"]})
        assert response.json() == {"predictions": ["1: a"]}

"""Several models in one server: which there are, and which one answers."""

import os
from pathlib import Path

import pytest

from keras_attn.serving.models import check, model_folders
from keras_attn.translation.versions import EXTRA

CONFIG = """model_config_list {{
  config {{ name: "{name}" base_path: "{path}" model_platform: "tensorflow" {more} }}
}}"""


@pytest.fixture(scope="module")
def folder(write_echo, tmp_path_factory):
    """A folder of two models."""
    folder = tmp_path_factory.mktemp("models")
    write_echo(folder / "ja-en", 1)
    write_echo(folder / "en-ja", 2, pair=("en", "ja"))
    (folder / ".cache" / "1").mkdir(parents=True)
    (folder / "lost+found").mkdir()
    return folder


@pytest.fixture(scope="module")
def client(folder, open_client):
    with open_client(folder) as client:
        yield client


def write_config(folder, name="a", path="ja-en", more=""):
    file = folder / "models.config"
    file.write_text(CONFIG.format(name=name, path=path, more=more), "utf-8")
    return file


def test_one_model_a_folder_of_models_or_a_file(folder, tmp_path):
    both = {name: folder / name for name in ("en-ja", "ja-en")}
    assert model_folders(folder) == both
    assert model_folders(folder / "ja-en") == {"ja-en": both["ja-en"]}
    assert model_folders(tmp_path) == {tmp_path.name: tmp_path}  # versions may come later
    assert model_folders(write_config(tmp_path, path=both["ja-en"])) == {"a": both["ja-en"]}
    assert model_folders(write_config(tmp_path, path="x")) == {"a": tmp_path / "x"}
    of_tensorflow = Path(__file__).parents[2] / "examples" / "tensorflow_serving" / "models.config"
    assert model_folders(of_tensorflow) == {"ja-en": Path("/models/ja-en")}


def test_a_file_that_cannot_be_served_is_refused_in_a_sentence(tmp_path):
    newest = "newest version of each model"
    for says, given in (
        ("must have a `name` and a `base_path`", {"name": ""}),
        ("two models have the name 'a'", {"more": '} config { name: "a" base_path: "b"'}),
        (newest, {"more": "model_version_policy { all {} }"}),
        (newest, {"more": "model_version_policy { latest { num_versions: 2 } }"}),
        ("versions have no labels", {"more": 'version_labels { key: "x" value: 1 }'}),
        ("is not a `models.config`", {"more": "colour: 3"}),
        ("must be a folder that `keras-attn train` wrote", {}),
    ):
        with pytest.raises(ValueError, match=says):
            check(write_config(tmp_path, **given))


def test_one_whole_model_is_enough_to_start(folder, tmp_path):
    (tmp_path / "broken" / "1").mkdir(parents=True)
    (tmp_path / "ja-en").symlink_to(folder / "ja-en")
    check(tmp_path)
    (tmp_path / "ja-en").unlink()
    with pytest.raises(ValueError, match="only a part of one"):
        check(tmp_path)


def test_models_have_names_that_are_text_and_need_not_be_translators(write_echo, tmp_path):
    version = write_echo(tmp_path / "echo", 1)
    (version / EXTRA / "config.json").unlink()
    check(tmp_path)
    (tmp_path / "echo").rename(tmp_path / os.fsdecode(b"\xff"))
    assert list(model_folders(tmp_path)) == ["\ufffd"]


def test_the_name_or_the_languages_choose_the_model_in_every_protocol(client):
    served = {"en-ja": 2, "ja-en": 1}
    assert client.get("/healthz").json() == {"status": "ok", "ready": True, "models": served}
    assert 'keras_attn_model_version{model="en-ja"} 2.0' in client.get("/metrics").text
    given = {"name": "text", "shape": [1], "datatype": "BYTES", "data": ["犬"]}
    for name, said in (("ja-en", "1: 犬"), ("en-ja", "2: 犬")):
        answer = client.post(f"/v1/models/{name}:predict", json={"instances": ["犬"]})
        assert answer.json() == {"predictions": [said]}
        answer = client.post(f"/v2/models/{name}/infer", json={"inputs": [given]}).json()
        assert (answer["model_name"], answer["outputs"][0]["data"]) == (name, [said])
        assert client.get(f"/v2/models/{name}/ready").status_code == 200
        source, target = name.split("-")
        document = {"q": "犬", "source": source, "target": target}
        assert client.post("/translate", json=document).json() == {"translatedText": said}
        page = client.get("/page/settings.json", params={"model": name}).json()
        assert (page["name"], page["source"], page["version"]) == (name, source, int(said[0]))
    first = client.get("/page/settings.json").json()
    assert (first["name"], first["models"]) == ("en-ja", ["en-ja", "ja-en"])
    languages = client.get("/languages").json()
    assert {one["code"]: one["targets"] for one in languages} == {"en": ["ja"], "ja": ["en"]}
    missing = client.get("/v2/models/de-en")
    assert missing.status_code == 404
    assert "This server has en-ja, ja-en." in missing.json()["error"]
    assert client.post("/v1/models/de-en:predict", json={"instances": ["a"]}).status_code == 404


def test_a_broken_model_hides_no_newer_ones(write_echo, tmp_path, wait_until, open_client):
    write_echo(tmp_path / "ja-en", 1)
    (tmp_path / "broken" / "1").mkdir(parents=True)
    (tmp_path / "broken" / "1" / "saved_model.pb").write_bytes(b"no model")
    with open_client(tmp_path, poll_seconds=0.05) as client:
        assert client.get("/v2/models/broken/ready").status_code == 503
        write_echo(tmp_path / "en-ja", 1, pair=("en", "ja"))
        write_echo(tmp_path / "ja-en", 2)
        served = {"ja-en": 2, "en-ja": 1}
        wait_until(lambda: client.get("/healthz").json().get("models") == served)
        index = client.post("/v2/repository/index").json()
        ready = {one["name"]: int(one["version"]) for one in index if one["state"] == "READY"}
        assert ready == served
        (broken,) = (one for one in index if one["name"] == "broken")
        assert broken["state"] == "UNAVAILABLE" and broken["reason"]


def test_a_file_broken_later_changes_nothing(folder, tmp_path, wait_until, caplog, open_client):
    file = write_config(tmp_path, path=folder / "ja-en")
    with open_client(file, poll_seconds=0.05) as client:
        file.write_text("model_config_list {", "utf-8")
        wait_until(lambda: "The models cannot be read." in caplog.text)
        assert client.get("/healthz").json()["models"] == {"a": 1}
        write_config(tmp_path, name="b", path=folder / "en-ja")
        wait_until(lambda: client.get("/healthz").json()["models"] == {"a": 1, "b": 2})

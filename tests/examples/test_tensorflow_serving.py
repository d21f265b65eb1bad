"""The files for the stock TensorFlow Serving are of the form that it reads."""

from pathlib import Path

import yaml
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from keras_attn.translation.export.signatures import ROWS_AT_ONCE

FOLDER = Path(__file__).parents[2] / "examples" / "tensorflow_serving"


def test_the_models_file_names_the_folder_that_the_guide_mounts():
    text = (FOLDER / "models.config").read_text(encoding="utf-8")
    models = text_format.Parse(text, model_server_config_pb2.ModelServerConfig())
    (model,) = models.model_config_list.config
    found = (model.name, model.base_path, model.model_platform)
    assert found == ("ja-en", "/models/ja-en", "tensorflow")
    guide = FOLDER.parents[1] / "docs" / "how_to" / "serve.md"
    assert "/models/ja-en" in guide.read_text(encoding="utf-8")


def test_batches_are_as_large_as_a_search():
    text = (FOLDER / "batching_parameters.txt").read_text(encoding="utf-8")
    assert f"max_batch_size {{ value: {ROWS_AT_ONCE} }}" in text


def test_the_manifest_mounts_what_the_models_file_names_and_serves_its_ports():
    text = (FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")
    deployment, service = yaml.safe_load_all(text)
    pod = deployment["spec"]["template"]
    (container,) = pod["spec"]["containers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounts == {"models": "/models/ja-en", "config": "/config"}
    assert mounts.keys() == {volume["name"] for volume in pod["spec"]["volumes"]}
    for argument in container["args"]:
        _, _, path = argument.partition("=/config/")
        assert not path or (FOLDER / path).is_file()
        assert not path or f"--from-file=examples/tensorflow_serving/{path}" in text
    labels = deployment["spec"]["selector"]["matchLabels"]
    assert pod["metadata"]["labels"] == labels == service["spec"]["selector"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert {port["targetPort"]: port["port"] for port in service["spec"]["ports"]} == ports

"""The files for the stock TensorFlow Serving are of the form that it reads."""

from pathlib import Path

from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from keras_attn.translation.text_ops import NUM_TEXTS

FOLDER = Path(__file__).parents[2] / "examples" / "tensorflow_serving"


def test_the_models_file_names_the_folder_that_readme_mounts():
    text = (FOLDER / "models.config").read_text(encoding="utf-8")
    (model,) = text_format.Parse(
        text, model_server_config_pb2.ModelServerConfig()
    ).model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == (
        "ja-en",
        "/models/ja-en",
        "tensorflow",
    )
    assert "/models/ja-en" in (FOLDER.parents[1] / "README.md").read_text(encoding="utf-8")


def test_batches_have_the_sizes_that_text_is_filled_up_to():
    lines = (FOLDER / "batching_parameters.txt").read_text(encoding="utf-8").splitlines()
    sizes = [int(x.split(":")[1]) for x in lines if x.startswith("allowed_batch_sizes")]
    assert tuple(sizes) == NUM_TEXTS
    assert f"max_batch_size {{ value: {NUM_TEXTS[-1]} }}" in lines

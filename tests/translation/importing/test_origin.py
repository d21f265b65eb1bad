import json

from keras_attn.translation.importing import origin
from keras_attn.translation.versions import EXTRA, ORIGIN


def test_origin_is_what_the_model_card_states(tiny, tmp_path):
    found = origin.of_folder(tiny, "us/tiny-ja-en")
    assert found.name == "us/tiny-ja-en" and found.licence == "apache-2.0"
    assert found.citation.startswith("@misc{tiny,") and found.citation.endswith("\n}")
    (tmp_path / "opus-mt-ja-en").mkdir()  # without a card
    assert origin.of_folder(tmp_path / "opus-mt-ja-en") == ("opus-mt-ja-en", "", "")


def test_documents_of_the_folder_are_kept(tiny, tmp_path):
    (tmp_path / EXTRA).mkdir()
    found = origin.of_folder(tiny)
    origin.keep(found, tiny, tmp_path)
    assert json.loads((tmp_path / EXTRA / ORIGIN).read_text()) == found._asdict()
    kept = tmp_path / EXTRA / "origin" / "README.md"
    assert kept.read_text() == (tiny / "README.md").read_text()

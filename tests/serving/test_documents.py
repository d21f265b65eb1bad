from keras_attn.serving.documents import VersionStatus, metadata, status
from keras_attn.serving.servable import Servable


def test_a_version_that_is_served_and_one_that_is_broken():
    found = status([VersionStatus(2, "END", "no model"), VersionStatus(1, "AVAILABLE")])
    assert found == {
        "model_version_status": [
            {
                "version": "2",
                "state": "END",
                "status": {"error_code": "UNKNOWN", "error_message": "no model"},
            },
            {
                "version": "1",
                "state": "AVAILABLE",
                "status": {"error_code": "OK", "error_message": ""},
            },
        ]
    }


def test_metadata_has_inputs_and_outputs_of_every_signature(echo):
    found = metadata("ja-en", Servable(echo / "1"))
    assert found["model_spec"]["version"] == "1"
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert signatures["nbest"]["outputs"].keys() == {"translations", "scores", "is_uncertain"}
    assert signatures["nbest"]["outputs"]["is_uncertain"]["dtype"] == "DT_BOOL"
    assert signatures["glossary"]["inputs"].keys() == {"text", "term", "term_translation"}
    assert signatures["nbest"]["inputs"]["text"]["dtype"] == "DT_STRING"

"""A server of a translator answers what the translator itself does."""

import json
import shutil

import numpy as np
import pytest

from keras_attn.serving.servable import Servable, saved_model
from keras_attn.translation.export.warmup_requests import FILE

TEXT = "昨日、友達と映画を見ました。"


@pytest.fixture(scope="module")
def client(exported, translator, tmp_path_factory, open_client):
    """A client of the shared translator, loaded once for the server and for what it must answer.

    It does not run the requests that warm it up: compiling for all of them takes a minute.
    """
    folder = tmp_path_factory.mktemp("models") / "ja-en"
    shutil.copytree(exported, folder, ignore=shutil.ignore_patterns(FILE))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(saved_model, "load", lambda folder: translator._loaded)
        with open_client(folder) as client:
            yield client


def predict(client, **body):
    return client.post("/v1/models/ja-en:predict", json=body).json()


def test_strings_in_strings_out_in_rows_in_columns_and_in_a_stream(client, translator):
    pasted = f"{TEXT}\r\n\r\n\t表\t😀\n猫が窓のそばで寝ている。https://example.com/a?b=c#d 👩‍👩‍👧"
    texts = [TEXT, "", pasted]
    expected = translator(texts)
    assert expected[0] and expected[0] in expected[2]
    assert predict(client, instances=texts) == {"predictions": expected}
    assert predict(client, inputs={"text": texts}) == {"outputs": expected}
    assert predict(client, inputs=[]) == {"outputs": []}
    document = {"q": pasted, "source": "ja", "target": "en"}
    *_, last, _ = client.post("/translate/stream", json=document).text.split("\n\n")
    assert json.loads(last.partition("data: ")[2]) == {"translatedText": expected[2]}


def test_a_sample_by_its_seed_in_columns(client, translator):
    inputs = {"text": [TEXT], "seed": 3, "temperature": 0.8, "top_k": 0, "top_p": 1.0}
    expected = translator.sample([TEXT], seed=3, temperature=0.8)
    assert predict(client, signature_name="sample", inputs=inputs) == {"outputs": expected}
    refused = predict(client, signature_name="sample", inputs={**inputs, "top_p": 0.0})
    assert "`top_p` must be above 0 and at most 1" in refused["error"]
    pair = {"text": [TEXT], "translation": ["a", "b"]}
    refused = predict(client, signature_name="score", inputs=pair)
    assert "as many rows each. Received: 1 in 'text', 2 in 'translation'" in refused["error"]


@pytest.mark.slow  # each signature is compiled for this alone
def test_every_signature_answers_as_the_translator_does(client, translator):
    def ask(signature, *rows):
        return predict(client, signature_name=signature, instances=rows)["predictions"]

    (found,), (expected,) = ask("nbest", TEXT), translator.nbest([TEXT])
    assert found["translations"] == [one.translation for one in expected]
    np.testing.assert_allclose(found["scores"], [one.score for one in expected], rtol=1e-6)

    (seen,), expected = ask("attend", TEXT), translator.attend(TEXT)
    for name in ("source_pieces", "target_pieces", "alternatives"):
        assert seen[name] == getattr(expected, name), name
    for name in ("weights", "encoder_weights", "decoder_weights", "probabilities"):
        np.testing.assert_allclose(seen[name], getattr(expected, name), atol=1e-6)

    prefix = [seen["target_pieces"][0], seen["alternatives"][1][1]]
    expected = translator.continue_from(TEXT, prefix)
    assert expected.target_pieces[:2] == prefix
    padding = {"text": TEXT, "prefix_pieces": ["", ""]}
    begun, free = ask("continue", {"text": TEXT, "prefix_pieces": prefix}, padding)
    assert begun["translation"] == expected.translation
    assert free["translation"] == seen["translation"]
    columns = {"text": [TEXT], "prefix_pieces": [prefix]}
    found = predict(client, signature_name="continue", inputs=columns)["outputs"]
    assert found["target_pieces"] == [expected.target_pieces]
    wrong = [{"text": TEXT, "prefix_pieces": "a"}]
    assert "error" in predict(client, signature_name="continue", instances=wrong)

    rows = [{"text": TEXT, "translation": "A cat."}, {"text": TEXT, "translation": ""}]
    expected = translator.score([TEXT, TEXT], ["A cat.", ""])
    np.testing.assert_allclose(ask("score", *rows), expected, rtol=1e-5)


def test_the_model_that_echoes_has_the_signatures_of_a_translator(served, translator):
    def described(specs):
        return {name: (spec.dtype, spec.shape.rank) for name, spec in specs.items()}

    for name, echo in Servable(served / "1").signatures.items():
        real = translator._loaded.signatures[name]
        assert described(echo.inputs) == described(real.structured_input_signature[1])
        assert described(echo.outputs) == described(real.structured_outputs)

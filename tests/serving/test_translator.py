"""A server of a translator answers what the translator itself does."""

import json

import numpy as np
import pytest

TEXT = "昨日、友達と映画を見ました。"


@pytest.fixture(scope="module")
def client(models, open_client):
    with open_client(models) as client:
        yield client


@pytest.fixture(scope="module")
def predict(client):
    """`predict(**body)`: what the server answers."""
    return lambda **body: client.post("/v1/models/ja-en:predict", json=body).json()


def test_strings_in_strings_out_in_rows_and_in_columns(predict, translator):
    texts = [TEXT, "", "猫が窓のそばで寝ている。"]
    expected = translator(texts)
    assert expected[0] != expected[2]
    assert predict(instances=texts) == {"predictions": expected}
    assert predict(inputs={"text": texts}) == {"outputs": expected}


@pytest.mark.parametrize(
    "signature", ["serving_default", pytest.param("nbest", marks=pytest.mark.slow)]
)
def test_pasted_text_is_translated_as_by_the_translator(predict, translator, signature):
    lines = "\r\n\r\n".join(
        ["一行目です。二文目です。", "\t表\t😀", "https://example.com/a?b=c#d", "👩‍👩‍👧", ""]
    )
    texts = [lines]
    found = predict(signature_name=signature, instances=texts)["predictions"]
    if signature == "nbest":
        assert [one["translations"][0] for one in found] == [
            hypotheses[0].translation for hypotheses in translator.nbest(texts)
        ]
    else:
        assert found == translator(texts)


def test_a_stream_ends_with_the_translation_of_the_whole_text(client, translator):
    text = f"猫が窓のそばで寝ている。{TEXT}\n😀 https://example.com/a?b=c この道は駅まで続く。12。"
    document = {"q": text, "source": "ja", "target": "en"}
    *_, last, _ = client.post("/translate/stream", json=document).text.split("\n\n")
    assert json.loads(last.partition("data: ")[2]) == {"translatedText": translator([text])[0]}


def test_no_texts_have_no_translations(predict):
    assert predict(inputs=[]) == {"outputs": []}


@pytest.mark.slow  # compiled for this alone; the echo model has the same signature
def test_several_translations_with_their_scores(predict, translator):
    (found,) = predict(signature_name="nbest", instances=[TEXT])["predictions"]
    (expected,) = translator.nbest([TEXT])
    assert found["translations"] == [one.translation for one in expected]
    np.testing.assert_allclose(found["scores"], [one.score for one in expected], rtol=1e-6)


@pytest.mark.slow  # compiled for this alone; the echo model has the same signature
def test_attention_with_its_pieces(predict, translator):
    (found,) = predict(signature_name="attend", instances=[TEXT])["predictions"]
    expected = translator.attend(TEXT)
    assert found["source_pieces"] == expected.source_pieces
    assert found["target_pieces"] == expected.target_pieces
    np.testing.assert_allclose(found["weights"], expected.weights, atol=1e-6)

    np.testing.assert_allclose(found["encoder_weights"], expected.encoder_weights, atol=1e-6)
    np.testing.assert_allclose(found["decoder_weights"], expected.decoder_weights, atol=1e-6)
    np.testing.assert_allclose(found["probabilities"], expected.probabilities, atol=1e-6)
    assert found["alternatives"] == expected.alternatives


@pytest.mark.slow  # compiled for this alone; the echo model has the same signature
def test_translations_that_begin_with_given_pieces_in_rows_and_in_columns(predict, translator):
    (seen,) = predict(signature_name="attend", instances=[TEXT])["predictions"]
    prefix = [seen["target_pieces"][0], seen["alternatives"][1][1]]
    expected = translator.continue_from(TEXT, prefix)
    assert expected.target_pieces[:2] == prefix
    rows = [
        {"text": TEXT, "prefix_pieces": prefix},
        {"text": TEXT, "prefix_pieces": ["", ""]},  # padding
    ]
    found = predict(signature_name="continue", instances=rows)["predictions"]
    assert [row["translation"] for row in found] == [expected.translation, seen["translation"]]
    inputs = {"text": [TEXT], "prefix_pieces": [prefix]}
    columns = predict(signature_name="continue", inputs=inputs)["outputs"]
    assert columns["target_pieces"] == [expected.target_pieces]
    wrong = predict(signature_name="continue", instances=[{"text": TEXT, "prefix_pieces": "a"}])
    assert "error" in wrong


def test_a_sample_by_its_seed_in_columns(predict, translator):
    inputs = {"text": [TEXT], "seed": 3, "temperature": 0.8, "top_k": 0, "top_p": 1.0}
    expected = translator.sample([TEXT], seed=3, temperature=0.8)
    assert predict(signature_name="sample", inputs=inputs) == {"outputs": expected}


@pytest.mark.slow  # compiled for this alone; the echo model has the same signature
def test_the_probability_of_a_translation(predict, translator):
    rows = [{"text": TEXT, "translation": "A cat."}, {"text": TEXT, "translation": ""}]
    expected = translator.score([TEXT, TEXT], ["A cat.", ""])
    found = predict(signature_name="score", instances=rows)["predictions"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)

"""Models that earlier versions exported load, and answer as when they were exported."""

import json
import tarfile
from pathlib import Path

import numpy as np
import pytest

from keras_attn.translation import Translator
from keras_attn.translation.config import RENAMED
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization.tokenizer import Tokenizer
from keras_attn.translation.training import warm_start
from keras_attn.translation.versions import EXTRA

STORED = sorted((Path(__file__).parents[1] / "data" / "exported").glob("*.tar.xz"))
# The oldest and the newest version always, those between them with `-m slow`.
PARAMETERS = [
    pytest.param(path, marks=[pytest.mark.slow] if 0 < i < len(STORED) - 1 else [], id=path.name)
    for i, path in enumerate(STORED)
]


@pytest.mark.parametrize("stored", PARAMETERS)
def test_answers_are_those_of_then_what_a_model_lacks_is_none_and_training_can_start_from_it(
    stored, tmp_path
):
    with tarfile.open(stored) as archive:
        # Before Python 3.11.4 there were no filters.
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        archive.extractall(tmp_path)
    answers = stored.with_name(stored.name.replace(".tar.xz", ".json"))
    answers = json.loads(answers.read_text(encoding="utf-8"))
    translator = Translator.load(tmp_path / "1")
    fields = {RENAMED.get(name, name): value for name, value in answers["configuration"].items()}
    assert fields.items() <= vars(translator.config).items()
    best = [hypotheses[0] for hypotheses in translator.nbest(answers["texts"])]
    assert [one.translation for one in best] == answers["translations"]
    assert [one.score for one in best] == pytest.approx(answers["scores"], abs=1e-3)

    seen = translator.attend(answers["texts"][0])
    assert seen.translation == answers["translations"][0]
    np.testing.assert_allclose(seen.weights.sum(-1), 1, rtol=1e-4)
    if "continue" not in answers["signatures"]:
        assert seen.encoder_weights is seen.alternatives is seen.probabilities is None
        with pytest.raises(ValueError, match="must have the signature 'continue' for this call"):
            translator.continue_from(answers["texts"][0], [])

    folder, fields = warm_start.inherit(start_from=str(translator.folder))
    assert fields["num_hiddens"] == translator.config.num_hiddens
    sides = (Tokenizer.load(folder / EXTRA / f"{side}.model") for side in ("source", "target"))
    model = make_model(*(side.vocab_size for side in sides), translator.config)
    kernel = model.trainable_variables[0]
    before = np.array(kernel)
    warm_start.copy_weights(folder, model)
    assert np.any(np.array(kernel) != before)

import dataclasses
import shutil
import sys

import numpy as np
import pytest
import shared_translator

from keras_attn.__main__ import main
from keras_attn.translation.export.ctranslate2 import convert
from keras_attn.translation.export.saved_model import export
from keras_attn.translation.special_ids import EOS_ID
from keras_attn.translation.text.placeholders import PLACEHOLDERS
from keras_attn.translation.tokenization import tokenizer

engine = pytest.importorskip("ctranslate2")
pytestmark = pytest.mark.slow  # exports a model, and converts it

# The engine's penalty of the length has another formula.
CONFIG = dataclasses.replace(shared_translator.CONFIG, length_penalty=0.0)
SOURCES = [pair.source for pair in shared_translator.PAIRS]
TEXTS = [*SOURCES, *(text[2:] for text in SOURCES), *(text[:-3] for text in SOURCES)]


@pytest.fixture(scope="module")
def models(tmp_path_factory, tokenizers, make_model):
    """A model, exported, and the same for CTranslate2."""
    model = make_model()
    (bias,) = [w for w in model.weights if w.path.endswith("decoder/logits/bias")]
    bias.assign(bias + 6.0 * (np.arange(bias.shape[0]) == EOS_ID))  # so that translations end
    translator = export(model, tokenizers, CONFIG, tmp_path_factory.mktemp("models"))
    converted = tmp_path_factory.mktemp("ctranslate2") / "model"
    assert main(["ctranslate2", str(translator.folder.parent), str(converted)]) == 0
    return translator, converted


def test_both_engines_find_the_same_translations_with_the_same_scores(models):
    translator, converted = models
    cut = tokenizer.Tokenizer.load(converted / "source.model")
    join = tokenizer.Tokenizer.load(converted / "target.model")
    pieces = [[cut.pieces[i] for i in ids] for ids in cut.encode(TEXTS)]
    converted_translator = engine.Translator(str(converted))
    found = converted_translator.translate_batch(
        pieces,
        beam_size=CONFIG.beam_size,
        length_penalty=0,
        min_decoding_length=0,
        max_decoding_length=2 * CONFIG.max_length,
        suppress_sequences=[[one] for one in PLACEHOLDERS],  # no source has one
    )
    numbers = {piece: i for i, piece in enumerate(join.pieces)}
    theirs = [join.decode([[numbers[p] for p in one.hypotheses[0]]])[0] for one in found]
    ours = [best[0] for best in translator.nbest(TEXTS)]
    limits = [int(CONFIG.max_length_ratio * (len(p) + 1)) + 10 for p in pieces]
    lengths = [len(one.hypotheses[0]) for one in found]
    comparable = [i for i, n in enumerate(lengths) if n < min(limits[i], CONFIG.max_length)]
    assert len(comparable) > 8
    assert len(set(theirs)) > 3
    assert [ours[i].translation for i in comparable] == [theirs[i] for i in comparable]
    # Of all tokens: without placeholders the engine has other probabilities.
    scored = converted_translator.score_batch(pieces, [one.hypotheses[0] for one in found])
    np.testing.assert_allclose(
        [ours[i].score for i in comparable],
        [sum(scored[i].log_probs) for i in comparable],
        rtol=1e-4,
    )


def test_what_cannot_be_converted_is_refused_in_a_sentence_and_leaves_nothing(
    models, tmp_path, monkeypatch
):
    translator, converted = models
    out = tmp_path / "out"
    with pytest.raises(ValueError, match="`out` must be a folder that does not exist"):
        convert(translator.folder, converted)
    with monkeypatch.context() as patched:
        patched.setattr(shutil, "copy", lambda *arguments: (_ for _ in ()).throw(OSError("full")))
        with pytest.raises(OSError, match="full"):
            convert(translator.folder, out)
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ctranslate2.specs", None)
        with pytest.raises(ValueError, match="This needs `ctranslate2`. Run `pip install"):
            convert(translator.folder, out)
    assert list(tmp_path.iterdir()) == []
    model = tmp_path / "1"
    shutil.copytree(translator.folder, model)
    config = dataclasses.replace(CONFIG, position="rotary", gated=True)
    config.save(model / "assets.extra" / "config.json")
    with pytest.raises(ValueError, match="default options.*position='rotary', gated=True"):
        convert(model, out)
    assert not out.exists()

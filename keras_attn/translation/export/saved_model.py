"""Export of a trained model as a SavedModel that maps strings to strings."""

import os
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import numpy as np
import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights, versions
from keras_attn.translation.config import Config
from keras_attn.translation.export import examples, small_graph, warmup_requests
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.export.translator import SIGNATURE, Translator
from keras_attn.translation.lexicon import Lexicon
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.versions import CONFIG, EXTRA, LEXICON

# Approximate number of pieces of the text that a new version translates before it is renamed.
TRIED_PIECES = 8
# Methods of `Signatures` with the names of their signatures.
_SIGNATURES = "glossary nbest score sample attend head search compile"
# Names of the inputs of signatures by rank and type.
_INPUTS = {
    (1, tf.string): "text translation term term_translation",
    (2, tf.string): "prefix_pieces target_pieces",
    (1, tf.int32): "layer head",
    (0, tf.int32): "seed top_k length num_best",
    (0, tf.float32): "temperature top_p",
    (0, tf.bool): "scored",
}


def export(
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    folder: Path,
    calibrate: Callable[[Signatures], None] | None = None,
    lexicon: Lexicon | None = None,
) -> Translator:
    """Write the next version of a translator to `folder`; returns it as loaded from disk.

    The version is written to a temporary folder, and renamed after it was loaded and has translated
    a text. So a server that watches `folder` never sees one that is incomplete or cannot translate.
    `calibrate` may change the variables of the signatures before they are written. With a lexicon,
    translations that cover their sources are preferred (`Coverage`).
    """
    _check_weights(model)
    try:
        with versions.temporary_folder(folder) as aside:
            _write_graph(model, tokenizers, config, aside, calibrate, lexicon)
            extra = aside / EXTRA
            extra.mkdir(exist_ok=True)
            config.save(extra / CONFIG)
            for name, tokenizer in tokenizers._asdict().items():
                tokenizer.save(extra / f"{name}.model")
            if lexicon:
                lexicon.save(extra / LEXICON)
            warmup_requests.write(extra, tokenizers.source, config.max_length)
            versions.write_sizes(aside)
            translator = _load_and_try(aside, warmup_requests.text(tokenizers.source, TRIED_PIECES))

            def num_pieces(translation: str) -> int:
                return len(tokenizers.target.encode([translation])[0])

            chosen = examples.choose(translator, config.source, config.target, num_pieces)
            examples.write(extra, chosen)
            translator.folder = versions.next_version(folder)
            os.rename(aside, translator.folder)
    except tf.errors.OpError as error:
        raise OSError(f"The model cannot be written to `{folder}`: {error.message}") from error
    return translator


def _check_weights(model: Transformer) -> None:
    weights = named_weights.of_model(model).items()
    not_finite = [path for path, x in weights if not np.isfinite(x.astype(np.float32)).all()]
    if not_finite:
        raise ValueError(
            "A model must have finite weights to be exported. "
            f"Received: inf or NaN in {named_weights.named(not_finite)}."
        )


def _write_graph(
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    folder: Path,
    calibrate: Callable[[Signatures], None] | None,
    lexicon: Lexicon | None,
) -> None:
    # On the processor, even if there is a GPU: `in_shards` has no kernel for a GPU, and cannot read
    # the weights of another device. The devices are saved with the weights.
    with tf.device("CPU:0"):
        signatures = Signatures(model, tokenizers, config, lexicon)
        if calibrate:
            calibrate(signatures)
    saved = tf.Module()
    saved.weights = [variable.value for variable in signatures.model.variables]
    saved.tables = signatures.tables
    for name in ("num_shards", "compiled_length", "confidence"):
        setattr(saved, name, getattr(signatures, name))
    specs = {
        name: tf.TensorSpec([None] * rank, dtype, name)
        for (rank, dtype), names in _INPUTS.items()
        for name in names.split()
    }
    functions = {name: getattr(signatures, name) for name in _SIGNATURES.split()}
    functions |= {SIGNATURE: signatures.translate, "continue": signatures.continue_}
    # Without AutoGraph, as in Keras: it takes half of the time.
    traced = {
        name: tf.function(
            function, [specs[of] for of in signature(function).parameters], autograph=False
        ).get_concrete_function()
        for name, function in functions.items()
    }
    # Without custom gradients: a server does not need them, and TensorFlow would keep those of
    # every loaded version until the process ends.
    options = tf.saved_model.SaveOptions(
        experimental_custom_gradients=False,
        experimental_variable_policy="save_variable_devices",
    )
    tf.saved_model.save(saved, str(folder), signatures=traced, options=options)
    small_graph.make_small(folder)


def _load_and_try(folder: Path, text: str) -> Translator:
    try:
        translator = Translator.load(folder)
        translator([text])
    except Exception as error:  # TensorFlow raises many types for an invalid SavedModel
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ValueError(
            "The exported model must translate a text before it becomes a version. "
            f"Received: {reason} No version was written to `{folder.parent}`."
        ) from error
    return translator

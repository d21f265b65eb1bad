"""Export of a trained model as a SavedModel that maps strings to strings."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights, versions
from keras_attn.translation.config import Config
from keras_attn.translation.export import examples, warmup_requests
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.export.translator import SIGNATURE, Translator
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.versions import CONFIG, EXTRA

# Approximate number of pieces of the text that a new version translates before it is renamed.
TRIED_PIECES = 8


def export(
    model: Transformer,
    tokenizers: Tokenizers,
    config: Config,
    folder: Path,
    calibrate: Callable[[Signatures], None] | None = None,
) -> Translator:
    """Write the next version of a translator to `folder`, in the layout of TensorFlow Serving.

    The version is written to a temporary folder, loaded from there, and renamed after it has
    translated a text. So a server that watches `folder` never sees an incomplete version or one
    that cannot translate. If the export fails, no files are left. `calibrate` may change the
    variables of the signatures before they are written.

    Returns the new version as it was loaded from disk.
    """
    _check_weights(model)
    try:
        with versions.temporary_folder(folder) as aside:
            _write_graph(model, tokenizers, config, aside, calibrate)
            extra = aside / EXTRA
            extra.mkdir(exist_ok=True)
            config.save(extra / CONFIG)
            for name, tokenizer in tokenizers._asdict().items():
                tokenizer.save(extra / f"{name}.model")
            warmup_requests.write(extra, tokenizers.source, config.max_length)
            versions.write_sizes(aside)
            translator = _load_and_try(aside, warmup_requests.text(tokenizers.source, TRIED_PIECES))
            chosen = examples.choose(
                translator,
                config.source,
                config.target,
                lambda translation: len(tokenizers.target.encode([translation])[0]),
            )
            examples.write(extra, chosen)
            translator.folder = versions.next_version(folder)
            os.rename(aside, translator.folder)
    except tf.errors.OpError as error:
        raise OSError(f"The model cannot be written to `{folder}`: {error.message}") from error
    return translator


def _check_weights(model: Transformer) -> None:
    not_finite = [
        path
        for path, weight in named_weights.of_model(model).items()
        if not np.isfinite(weight.astype(np.float32)).all()
    ]
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
) -> None:
    # On the processor, even if there is a GPU: `in_shards` has no kernel for a GPU, and cannot read
    # the weights of another device. The devices are saved with the weights.
    with tf.device("CPU:0"):
        signatures = Signatures(model, tokenizers, config)
        if calibrate:
            calibrate(signatures)
    text, translation = (
        tf.TensorSpec((None,), tf.string, name=name) for name in ("text", "translation")
    )
    numbers = {"seed": tf.int32, "temperature": tf.float32, "top_k": tf.int32, "top_p": tf.float32}
    settings = [tf.TensorSpec((), dtype, name=name) for name, dtype in numbers.items()]
    terms = [tf.TensorSpec((None,), tf.string, name=name) for name in ("term", "term_translation")]
    prefix, pieces = (
        tf.TensorSpec((None, None), tf.string, name=name)
        for name in ("prefix_pieces", "target_pieces")
    )
    of_head = [tf.TensorSpec((None,), tf.int32, name=name) for name in ("layer", "head")]
    length, num_best, scored = (
        tf.TensorSpec((), dtype, name=name)
        for name, dtype in (("length", tf.int32), ("num_best", tf.int32), ("scored", tf.bool))
    )
    functions: dict[str, tuple[Any, list[tf.TensorSpec]]] = {
        SIGNATURE: (signatures.translate, [text]),
        "glossary": (signatures.glossary, [text, *terms]),
        "nbest": (signatures.nbest, [text]),
        "score": (signatures.score, [text, translation]),
        "sample": (signatures.sample, [text, *settings]),
        "attend": (signatures.attend, [text]),
        "continue": (signatures.continue_, [text, prefix]),
        "head": (signatures.head, [text, pieces, *of_head]),
        "search": (signatures.search, [text, *terms, num_best, scored]),
        "compile": (signatures.compile, [length]),
    }
    saved = tf.Module()
    saved.weights = [variable.value for variable in signatures.model.variables]
    for name in ("num_shards", "compiled_length", "confidence"):
        setattr(saved, name, getattr(signatures, name))
    # Without AutoGraph, as in Keras: it takes half of the time.
    traced = {
        name: tf.function(
            function, input_signature=signature, autograph=False
        ).get_concrete_function()
        for name, (function, signature) in functions.items()
    }
    # Without custom gradients: a server does not need them, and TensorFlow would keep those of
    # every loaded version until the process ends.
    options = tf.saved_model.SaveOptions(
        experimental_custom_gradients=False,
        experimental_variable_policy="save_variable_devices",
    )
    tf.saved_model.save(saved, str(folder), signatures=traced, options=options)


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

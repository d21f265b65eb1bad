"""Validation after epochs: BLEU of the averaged weights."""

import dataclasses
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from keras_attn.layers.transformer import Transformer
from keras_attn.translation import named_weights
from keras_attn.translation.config import Config
from keras_attn.translation.corpus.splits import Example
from keras_attn.translation.evaluation.metrics import bleu
from keras_attn.translation.export import tensorflow_process
from keras_attn.translation.export.signatures import Signatures
from keras_attn.translation.model import make_model
from keras_attn.translation.tokenization.tokenizer import Tokenizers
from keras_attn.translation.training.callbacks import Budget
from keras_attn.translation.training.checkpoints import TrainingState
from keras_attn.translation.training.jax import processes
from keras_attn.translation.training.weight_average import WeightAverage

Translate = Callable[[Sequence[str]], list[str]]

NUM_SAMPLES = 3
# A training in minutes spends at most about this share of them on validation.
MAX_SHARE = 0.2


def translate_with(model: Transformer, tokenizers: Tokenizers, config: Config) -> Translate:
    """Function from texts to greedy translations with the current weights of `model`.

    What is validated is what will be served: the function of the export, on TensorFlow. If training
    runs on another backend, the function runs in a process of its own.
    """
    if keras.backend.backend() == "tensorflow":
        return _translate_here_with(model, tokenizers, config)
    tensorflow_process.call(_keep, tokenizers, config)
    return lambda texts: tensorflow_process.call(_translate, named_weights.of_model(model), texts)


_kept: dict[str, Any] = {}  # in the process with TensorFlow: the model and its `translate`


def _keep(tokenizers: Tokenizers, config: Config) -> None:
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    _kept.update(model=model, translate=_translate_here_with(model, tokenizers, config))


def _translate(weights: dict[str, np.ndarray], texts: Sequence[str]) -> list[str]:
    named_weights.assign(_kept["model"].weights, weights)
    return _kept["translate"](texts)


def _translate_here_with(model: Transformer, tokenizers: Tokenizers, config: Config) -> Translate:
    exported = Signatures(model, tokenizers, dataclasses.replace(config, beam_size=1))
    signature = [tf.TensorSpec([None], tf.string)]
    graph = tf.function(exported.translate, input_signature=signature, autograph=False)
    graph.get_concrete_function()  # traced before the time of the training begins

    def translate(texts: Sequence[str]) -> list[str]:
        exported.model.set_weights(model.get_weights())
        found = graph(tf.constant(list(texts), tf.string))["translation"].numpy()
        return [translation.decode() for translation in found]

    return translate


class Validation(keras.callbacks.Callback):
    """Callback that prints BLEU and sample translations and keeps the best averaged weights.

    Validation runs after each epoch, and after the last batch of a training. With a budget in
    minutes, epochs that are short compared with a validation are skipped. Training stops after
    `config.patience` validations without a higher BLEU; 0: never.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizers: Tokenizers,
        examples: Sequence[Example],
        config: Config,
        average: WeightAverage,
        state: TrainingState,
        budget: Budget,
    ):
        super().__init__()
        self._examples = examples[:: -(-len(examples) // config.validation_sentences) or 1]
        if processes.is_primary():
            self._translate = translate_with(model, tokenizers, config)
        self._config = config
        self._last = -math.inf  # end of the last validation
        self._average = average
        self._state = state
        self._budget = budget
        self._shown: dict[str, str] = {}

    def on_epoch_end(self, epoch, logs=None):
        if not self._config.steps and processes.broadcast_from_primary(self._is_too_early):
            return
        start = time.monotonic()
        sources = [example.source for example in self._examples]
        self._average.swap()
        try:
            translations = processes.broadcast_from_primary(lambda: self._translate(sources))
        finally:
            self._average.swap()
        reached = bleu(translations, [e.references for e in self._examples], self._config.target)
        is_best = self._state.keep_if_best(reached, self._average.values)
        logs["val_bleu"] = reached  # for the callbacks after this one
        loss = float(logs["loss"])
        self._state.remember(self._budget.seconds, loss, reached)
        self._last = time.monotonic()
        self._budget.reserve_seconds = self._last - start
        if self._state.is_past(self._config.patience):
            self.model.stop_training = True
        if processes.is_primary():
            best = " (best so far)" if is_best else ""
            print(
                f"epoch {epoch + 1}: loss {loss:.3f}, validation BLEU {reached:.1f}{best}",
                *self._changed_samples(translations),
                sep="\n",
                file=sys.stderr,
                flush=True,
            )

    def _changed_samples(self, translations: Sequence[str]) -> Iterator[str]:
        """Lines of sample translations, without those that are the same as before."""
        spacing = max(1, len(self._examples) // NUM_SAMPLES)
        for i in range(0, len(self._examples), spacing)[:NUM_SAMPLES]:
            (source, references), translation = self._examples[i], translations[i]
            if self._shown.get(source) != translation:
                self._shown[source] = translation
                yield f"    {source}  →  {translation}  (reference: {references[0]})"

    def _is_too_early(self) -> bool:
        """Whether a validation now would exceed its share of the time since the last one."""
        if self.model.stop_training or not self._budget.left:
            return False
        needed, since = self._budget.reserve_seconds, time.monotonic() - self._last
        return needed > MAX_SHARE * (since + needed)

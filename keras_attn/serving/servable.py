"""Loaded version of a model, and calls of its signatures."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import get_model_metadata_pb2, prediction_log_pb2

from keras_attn.serving import examples
from keras_attn.serving.errors import RequestError
from keras_attn.translation.config import Config
from keras_attn.translation.export.warmup_requests import FILE, FIRST_LENGTHS
from keras_attn.translation.runtime import allocator, saved_model, threads
from keras_attn.translation.versions import CONFIG, EXTRA

DEFAULT_SIGNATURE = "serving_default"
# Inputs that hold for all texts of a request, however many there are: the terms of a glossary.
SHARED = ("term", "term_translation")
# Signatures of a translator that clients do not call.
INTERNAL = ("compile", "search")


@dataclass(frozen=True)
class Signature:
    """Function of a signature of a SavedModel, and its specs of inputs and outputs, by name."""

    function: Any
    inputs: dict[str, tf.TensorSpec]
    outputs: dict[str, tf.TensorSpec]

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """Names of the inputs that hold for all rows of a request."""
        return tuple(name for name in self.inputs if name in SHARED)

    @cached_property
    def has_rows(self) -> bool:
        """Whether all inputs and outputs have a batch axis.

        Then the rows of a request may be computed one after the other.
        """
        return all(spec.shape.rank and spec.shape[0] is None for spec in self._specs)

    @cached_property
    def joins_rows(self) -> bool:
        """Whether all inputs and outputs have a batch axis and a fixed size of each row.

        Then rows of several requests may share a batch, if their shared inputs are equal.
        """
        return self.has_rows and all(spec.shape[1:].is_fully_defined() for spec in self._specs)

    @property
    def _specs(self) -> list[tf.TensorSpec]:
        return [*self.inputs.values(), *self.outputs.values()]

    def num_rows(self, inputs: Mapping[str, np.ndarray]) -> int:
        """Number of rows of the inputs of a request; shared inputs have no rows."""
        rows = [len(array) for name, array in inputs.items() if array.ndim and name not in SHARED]
        return max(rows, default=1)


class Servable:
    """Loaded version of a SavedModel, in a folder whose name is the version number.

    Raises any exception of TensorFlow if the folder holds no complete SavedModel.

    Attributes:
        signatures: Signatures, by name.
        config: Configuration of the translator, or None for another SavedModel.
        examples: Sentences that the model translates well, for the page. May be empty.
        signature_map: Signature definitions of the SavedModel, by name.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.version = int(folder.name)
        # This reference keeps the variables alive.
        self._loaded = saved_model.load(folder)
        threads.one_core_for_each_shard(self._loaded)
        self.signatures = {
            name: Signature(
                function,
                dict(sorted(function.structured_input_signature[1].items())),
                dict(sorted(function.structured_outputs.items())),
            )
            for name, function in self._loaded.signatures.items()
            if name not in INTERNAL
        }
        if self._compiles and (folder / EXTRA / FILE).is_file():
            self._loaded.compiled_length.assign(0)
        # Read now, because the folder may be deleted while the version is served.
        config = folder / EXTRA / CONFIG
        self.config = Config.load(config) if config.is_file() else None
        self.examples = examples.read(folder)
        saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
        self.signature_map = get_model_metadata_pb2.SignatureDefMap()
        for name, definition in saved.meta_graphs[0].signature_def.items():
            self.signature_map.signature_def[name].CopyFrom(definition)

    def signature(self, name: str) -> Signature:
        """Signature with the given name; a `RequestError` if there is none."""
        if name not in self.signatures:
            raise RequestError(f'Serving signature name: "{name}" not found in signature def')
        return self.signatures[name]

    def predict(self, name: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Call a signature and return its outputs, by name."""
        signature = self.signature(name)
        tensors = {
            name: tf.constant(inputs[name].tolist(), spec.dtype, inputs[name].shape)
            for name, spec in signature.inputs.items()
        }
        try:
            outputs = signature.function(**tensors)
        except tf.errors.InvalidArgumentError as error:
            raise RequestError(_reason(error.message)) from error
        return {name: outputs[name].numpy() for name in signature.outputs}

    @property
    def _compiles(self) -> bool:
        """Whether the model compiles a program on request, and not when it needs one."""
        return hasattr(self._loaded, "compiled_length") and "compile" in self._loaded.signatures

    @property
    def has_first_lengths(self) -> bool:
        """Whether the programs for the shortest texts are compiled."""
        return self._compiles and int(self._loaded.compiled_length) >= FIRST_LENGTHS[-1]

    def warm_up(self, name: str, inputs: Mapping[str, np.ndarray]) -> None:
        """Run a warm-up request. Texts of a compiled length then use the compiled program."""
        if name == "compile" and self._compiles:
            self._loaded.signatures[name](**inputs)
            self._loaded.compiled_length.assign(inputs["length"])
        else:
            self.predict(name, inputs)
        allocator.return_freed_memory()  # of the preparation, 0.2 GiB of a translator

    def warm_up_requests(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Signature name and inputs of each warm-up request of the version."""
        path = self.folder / EXTRA / FILE
        if path.is_file():
            options = tf.data.Options()
            # The end of an iterator would wait for the thread that tunes it, up to 20 seconds, and
            # the server would not answer.
            options.autotune.enabled = False
            records = tf.data.TFRecordDataset([str(path)]).with_options(options)
            for record in list(records.as_numpy_iterator()):
                log = prediction_log_pb2.PredictionLog.FromString(record)
                if log.WhichOneof("log_type") != "predict_log":
                    continue
                request = log.predict_log.request
                inputs = {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()}
                yield request.model_spec.signature_name or DEFAULT_SIGNATURE, inputs


def _reason(message: str) -> str:
    """Reason in a message of TensorFlow, without the lines that name nodes of the graph."""
    lines = [line.strip() for line in message.splitlines()]
    around = ("Graph execution error", "Detected at node", "<stack traces", "[[")
    reasons = [line for line in lines if line and not line.startswith(around)]
    return reasons[0] if reasons else "The model refuses the inputs."

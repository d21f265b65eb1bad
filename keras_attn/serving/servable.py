"""One version of a model, loaded: what it can be asked, and asking it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import meta_graph_pb2, saved_model_pb2
from tensorflow_serving.apis import prediction_log_pb2

from keras_attn.serving.errors import RequestError
from keras_attn.translation.export.warmup_requests import FILE
from keras_attn.translation.versions import EXTRA


class Signature(NamedTuple):
    """A function of a model.

    Attributes:
        function: It.
        inputs: Its arguments, by name.
        outputs: Its results, by name.
    """

    function: Any
    inputs: dict[str, tf.TensorSpec]
    outputs: dict[str, tf.TensorSpec]

    @property
    def joins_rows(self) -> bool:
        """Whether a row is answered the same whatever rows stand beside it.

        So it is where all tensors have a row for each text, of a size that is always the same.
        """
        specs = (*self.inputs.values(), *self.outputs.values())
        return all(
            spec.shape.rank and spec.shape[0] is None and spec.shape[1:].is_fully_defined()
            for spec in specs
        )


class Servable:
    """A version of a SavedModel.

    Args:
        folder: Of the version; its name is the version's number.

    Attributes:
        folder: It.
        version: Its number.
        signatures: What it can be asked, by name.

    Raises:
        Exception: Of any kind, as TensorFlow raises it, if the folder holds no whole SavedModel.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.version = int(folder.name)
        self._loaded = tf.saved_model.load(str(folder))  # its variables live as long as this
        self.signatures = {
            name: Signature(
                function,
                dict(sorted(function.structured_input_signature[1].items())),
                dict(sorted(function.structured_outputs.items())),
            )
            for name, function in self._loaded.signatures.items()
        }

    def signature(self, name: str) -> Signature:
        """The signature of that name.

        Raises:
            RequestError: If there is none.
        """
        if name not in self.signatures:
            raise RequestError(f'Serving signature name: "{name}" not found in signature def')
        return self.signatures[name]

    def ask(self, name: str, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs of a signature, by name.

        Raises:
            RequestError: If the model refuses the inputs.
        """
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

    def warm_up_requests(self) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
        """Signature and inputs of each request that came with the model."""
        path = self.folder / EXTRA / FILE
        if path.is_file():
            for record in tf.data.TFRecordDataset([str(path)]).as_numpy_iterator():
                request = prediction_log_pb2.PredictionLog.FromString(record).predict_log.request
                inputs = {name: tf.make_ndarray(proto) for name, proto in request.inputs.items()}
                yield request.model_spec.signature_name, inputs

    def signature_defs(self) -> dict[str, meta_graph_pb2.SignatureDef]:
        """The signatures as the file of the model describes them."""
        saved = saved_model_pb2.SavedModel.FromString((self.folder / "saved_model.pb").read_bytes())
        return dict(saved.meta_graphs[0].signature_def)


def _reason(message: str) -> str:
    """What went wrong, without where: TensorFlow puts it among lines that name nodes."""
    lines = [line.strip() for line in message.splitlines()]
    around = ("Graph execution error", "Detected at node", "<stack traces", "[[")
    reasons = [line for line in lines if line and not line.startswith(around)]
    return reasons[0] if reasons else "The model refuses the inputs."

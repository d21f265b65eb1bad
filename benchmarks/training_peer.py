"""Process of one program in `train_throughput.py`, `training_size.py` and `time_to_bleu.py`.

`python training_peer.py NAME PRECISION` runs `ours`, `keras_hub`, `torch` or `product`
on all cores. Reads one JSON request from each line and writes one JSON line as answer:

- `{"load": FILES, "config": ...}` takes the batches of these files of `write_batches`, again and
  again;
- `{"steps": N}` trains on N batches, and returns seconds and peak memory;
- `{"seconds": S}` trains for S seconds, and returns the number of batches;
- `{"translate": [IDS, ...]}` translates by greedy search (`torch` only);
- `{"product": SIZE}` returns the operations/s of a product of square matrices.
"""

import itertools
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from machine import num_cores, process_memory
from peer import Peer, answer_requests

# Settings of Adam for the peers: the best ones found with ours (results/learning.md).
RECIPE = {"learning_rate": 3e-3, "warmup_steps": 300}
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]  # source, target_in, target_out
# Trains on `n` batches.
Train = Callable[[int], Any]


def main() -> None:
    name, precision = sys.argv[1:]
    if name in ("ours", "product"):  # as in `train.py`; `product` measures the peak
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
    make = {"ours": train_ours, "keras_hub": train_keras_hub, "torch": TorchTraining}
    train: Any = None

    def answer(request: dict[str, Any]) -> Any:
        nonlocal train
        if "product" in request:
            return product_speed(request["product"], precision)
        if "load" in request:
            train = None  # frees its memory before more is taken
            train = make[name](request["load"], request["config"], precision)
            return None
        if "translate" in request:
            return train.translate(request["translate"])
        begin = time.perf_counter()
        if "seconds" in request:
            steps = 0
            while time.perf_counter() - begin < request["seconds"]:
                train(1)
                steps += 1
            return steps
        train(request["steps"])
        seconds = time.perf_counter() - begin
        return {"seconds": seconds, "memory": process_memory(what="VmHWM")}

    answer_requests(answer)


def start(
    program: str, precision: str, files: list[str], fields: dict, backend: str = "tensorflow"
) -> Peer:
    """Process of a program that is ready to train; `fields` are those of our `Config`."""
    is_torch = program == "torch"
    command = ["training_peer.py", program, precision]
    peer = Peer(f"{program} {precision}", command, "torch" if is_torch else "", backend)
    peer.ask(load=files, config=fields if program == "ours" else {**fields, **RECIPE})
    return peer


def product_of(precision: str, backend: str = "tensorflow") -> Peer:
    """Process that measures the speed of a matrix product."""
    return Peer(f"product {precision}", ["training_peer.py", "product", precision], backend=backend)


def write_batches(batches: Sequence[Batch], path: Path) -> str:
    """Write batches to a file and return the path."""
    path.write_bytes(pickle.dumps(batches))
    return str(path)


@lru_cache(maxsize=1)
def read_batches(path: str) -> list[Batch]:
    return pickle.loads(Path(path).read_bytes())


def endless(files: list[str]) -> Iterator[Batch]:
    """The batches of all files, again and again."""
    for file in itertools.cycle(files):
        yield from read_batches(file)


def for_fit(files: list[str]) -> Iterator[Any]:
    """The batches as Keras `fit` takes them."""
    for source, target_in, target_out in endless(files):
        yield (source, target_in), target_out


def product_speed(size: int, precision: str) -> float:
    """Operations/s of the fastest of several products."""
    import keras
    from keras import ops

    from keras_attn.translation.runtime import devices

    matrix = ops.cast(keras.random.normal((size, size)), precision)
    product = devices.compiled(lambda x: ops.max(ops.matmul(x, x)))
    seconds = []
    for _ in range(6):  # the first compiles
        start = time.perf_counter()
        float(product(matrix))
        seconds.append(time.perf_counter() - start)
    return 2 * size**3 / min(seconds)


def train_ours(files: list[str], fields: dict, precision: str) -> Train:
    """Training step of ours, like `fit` of the translator."""
    from keras_attn.translation.config import Config
    from keras_attn.translation.model import make_model
    from keras_attn.translation.runtime import allocator, threads
    from keras_attn.translation.training.callbacks import WeightAveraging
    from keras_attn.translation.training.step import make_trainer
    from keras_attn.translation.training.weight_average import WeightAverage

    on_jax = os.environ["KERAS_BACKEND"] == "jax"
    if not on_jax:
        allocator.keep_freed_memory()
        threads.set_intra_op_threads()
    config = Config(**{**fields, "precision": precision})
    model = make_model(config.vocab_size, config.vocab_size, config)
    trainer = make_trainer(model, config)
    average = WeightAverage(model.trainable_variables, config.average_decay)
    dataset = None if on_jax else as_dataset(files)

    def train(steps: int) -> None:
        callbacks = [*trainer.own_callbacks, WeightAveraging(average, config.average_interval)]
        trainer.fit(
            dataset or for_fit(files),
            steps_per_epoch=steps,
            verbose=0,
            shuffle=False,
            callbacks=callbacks,
        )

    return train


def train_keras_hub(files: list[str], fields: dict, precision: str) -> Train:
    """Functional model of KerasHub blocks with a Keras loss, trained by `fit`."""
    import keras
    from keras_hub.layers import TokenAndPositionEmbedding, TransformerDecoder, TransformerEncoder

    keras.config.set_dtype_policy("float32" if precision == "float32" else "mixed_bfloat16")
    width, vocab_size = fields["num_hiddens"], fields["vocab_size"]
    block = {
        "intermediate_dim": fields["ffn_num_hiddens"],
        "num_heads": fields["num_heads"],
        "dropout": fields["dropout"],
        "normalize_first": True,
    }
    embed = {"sequence_length": 512, "embedding_dim": width, "mask_zero": True}
    source, target = (keras.Input((None,), dtype="int32") for _ in range(2))
    memory = TokenAndPositionEmbedding(vocab_size, **embed)(source)
    for _ in range(fields["num_encoder_layers"]):
        memory = TransformerEncoder(**block)(memory)
    x = TokenAndPositionEmbedding(vocab_size, **embed)(target)
    for _ in range(fields["num_decoder_layers"]):
        x = TransformerDecoder(**block)(x, memory)
    logits = keras.layers.Dense(vocab_size, dtype="float32")(keras.layers.LayerNormalization()(x))
    model = keras.Model([source, target], logits)
    optimizer = keras.optimizers.Adam(
        fields["learning_rate"],
        beta_2=0.98,
        global_clipnorm=fields["clip_norm"],
        use_ema=True,
        ema_momentum=fields["average_decay"],
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=0)
    model.compile(optimizer, loss, jit_compile=False)
    dataset = as_dataset(files)
    return lambda steps: model.fit(dataset, steps_per_epoch=steps, verbose=0, shuffle=False)


def as_dataset(files: list[str]) -> Any:
    """The batches as a dataset, starting with the first batch."""
    import tensorflow as tf

    ids = tf.TensorSpec((None, None), tf.int32)
    dataset = tf.data.Dataset.from_generator(
        lambda: for_fit(files), output_signature=((ids, ids), ids)
    )
    options = tf.data.Options()
    options.autotune.enabled = False  # as in `Batches.dataset`: autotuning would delay some turns
    return dataset.prefetch(4).with_options(options)


class TorchTraining:
    """Training loop of `torch_transformer.py`, compiled where there is a graphics card."""

    def __init__(self, files: list[str], fields: dict, precision: str):
        import torch
        from torch_transformer import Training, Translator

        torch.set_num_threads(num_cores())
        torch.manual_seed(0)
        has_card = torch.cuda.is_available()
        self._batches = endless(files)
        self._wait = torch.cuda.synchronize if has_card else lambda: None
        model = Translator(fields).to("cuda" if has_card else "cpu")
        training = Training(model, fields, precision, compiled=has_card)
        self._step, self.translate = training.step, training.translate

    def __call__(self, steps: int) -> None:
        for _ in range(steps):
            self._step(next(self._batches))
        self._wait()


if __name__ == "__main__":
    main()

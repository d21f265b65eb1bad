"""Training step of any Keras model in parallel shards, for Keras `fit`."""

import keras

from keras_attn.layers.checks import check, check_positive_integer, optional


def set_up_cpu() -> None:
    """Let TensorFlow run one operation on each core, where it has 2 to 4 cores and no GPU.

    By default, TensorFlow divides each operation among all cores, which then wait for each other.
    The C library keeps freed memory for the next step, up to 1 GiB. Call this at the start of a
    program: TensorFlow takes settings of threads only before its first operation. On other
    backends, nothing is changed.

    Raises:
        ValueError: If TensorFlow has run an operation already.

    Example:

    >>> set_up_cpu()  # doctest: +SKIP
    """
    if keras.backend.backend() != "tensorflow":
        return
    from keras_attn.translation.runtime import allocator, threads

    if not threads.set_intra_op_threads():
        raise ValueError(
            "`set_up_cpu` must be called before TensorFlow runs its first operation, and so before "
            "a model or a tensor is made. Received: a call after that."
        )
    allocator.keep_freed_memory()


def speed_up(model: keras.Model, num_shards: int | None = None) -> keras.Model:
    """Give a model a faster training step for `fit`, `train_on_batch` and its callbacks.

    Each core processes a shard of each batch, and logits are computed for a sample of the
    vocabulary (`SampledCrossEntropy`), for targets that count only. Loss and gradients are those of
    the whole batch; with `fraction=1` they are exact. All else is as before: `evaluate`,
    `predict`, `save`, and the class of the model. The step itself is not saved: call this again
    after loading. Training is not compiled by XLA.

    The model returns the logits of a `Decoder`, of a `keras.layers.Dense` without activation, or of
    `TokenEmbedding.logits`, unchanged. It is compiled with a `SampledCrossEntropy`, before this
    call or after it. `fit` logs the loss; further metrics need the logits of the whole vocabulary,
    and are computed in validation only.

    Args:
        model: A Keras model: functional, sequential or a class.
        num_shards: Number of shards of a batch, at least 1. Defaults to None: one for each core on
            2 to 4 cores, else one.

    Returns:
        The same model.

    Raises:
        ValueError: If the backend is not TensorFlow, or `model` is not a Keras model. In `fit`: if
            the model was compiled with another loss, returns something else, or has layers that
            assign weights, such as `BatchNormalization`.

    Example:

    >>> from keras_attn import Decoder
    >>> from keras_attn.training import Adam, SampledCrossEntropy
    >>> decoder = Decoder(20, 1, 8, 16, 2, cross_attention=False)
    >>> model = keras.Sequential([keras.Input((None,), dtype="int32"), decoder])
    >>> model.compile(Adam(0.01), SampledCrossEntropy(fraction=0.5))
    >>> ids = keras.ops.array([[2, 7, 5, 9, 3]])
    >>> history = speed_up(model).fit(ids[:, :-1], ids[:, 1:], epochs=2, verbose=0)
    >>> [*history.history]
    ['loss']
    """
    if keras.backend.backend() != "tensorflow":
        raise ValueError(
            "`speed_up` needs TensorFlow; the optimizers and the loss of `keras_attn.training` "
            f"work on every backend. Received: KERAS_BACKEND={keras.backend.backend()}."
        )
    check("model", model, isinstance(model, keras.Model), "a Keras model")
    number = optional(check_positive_integer, "num_shards", num_shards)
    from keras_attn.training.sharded_step import ShardedStep  # imports TensorFlow
    from keras_attn.translation.runtime import threads

    model.supports_jit = False  # `compile` with `jit_compile="auto"` asks for it
    if model.compiled and model.jit_compile:
        model.jit_compile = False
        model.train_function = model.test_function = model.predict_function = None
    # Not by assignment: Keras would track it.
    vars(model)["train_step"] = ShardedStep(model, number or threads.num_parallel_operations())
    return model

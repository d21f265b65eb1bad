"""Process with TensorFlow for what only TensorFlow can do, where training runs on JAX."""

import atexit
import functools
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from keras_attn.translation.runtime import allocator, native_output, threads

# The process computes on the CPU: the devices are in use by the training.
ENVIRONMENT = {"KERAS_BACKEND": "tensorflow", "CUDA_VISIBLE_DEVICES": ""}


def call(function: Callable, *arguments: Any) -> Any:
    """Call a function where Keras runs on TensorFlow: here, or in a process of its own.

    The function may keep state in its module. A Keras model is pickled, and unpickled as a model of
    the other backend. An OSError says that the process has ended.
    """
    import keras  # the process imports it with its output hidden

    if keras.backend.backend() == "tensorflow":
        return function(*arguments)
    connection = _process()
    try:
        connection.send((function, arguments))
        result, error = connection.recv()
    except (EOFError, BrokenPipeError, ConnectionResetError) as lost:
        message = "The process with TensorFlow has ended, perhaps for lack of memory."
        raise OSError(message) from lost
    if error:
        raise error
    return result


@functools.cache
def _process() -> Connection:
    ours, theirs = multiprocessing.Pipe()
    before = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    os.environ.update(ENVIRONMENT)  # read by a started process, and here no more
    try:
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
    finally:
        for name in ENVIRONMENT:
            del os.environ[name]
        os.environ.update(before)
    theirs.close()  # so that each end sees the end of the other
    # `multiprocessing` would send SIGTERM, which the process does not obey, and wait for its end.
    atexit.register(process.kill)
    return ours


def _serve(connection: Connection) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the training obeys them
        signal.signal(number, signal.SIG_IGN)
    allocator.keep_freed_memory()
    with native_output.suppress_native_stderr():
        from keras_attn.translation.runtime import devices

        threads.set_intra_op_threads()
        devices.open_devices()
    while True:
        try:
            function, arguments = connection.recv()
        except EOFError:
            return
        try:
            connection.send((function(*arguments), None))
        except Exception as error:
            connection.send((None, error))

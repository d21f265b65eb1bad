import os
from functools import partial

import tensorflow as tf

from keras_attn.translation.runtime import threads
from keras_attn.translation.runtime.threads import num_cores


def test_cores_are_those_that_the_process_may_use():
    assert 1 <= num_cores() <= os.cpu_count()


def test_only_few_cores_get_an_operation_each(monkeypatch):
    settings = {}
    for kind in ("intra", "inter"):
        name = f"set_{kind}_op_parallelism_threads"
        monkeypatch.setattr(tf.config.threading, name, partial(settings.__setitem__, kind))
    for cores, expected in ((1, {}), (16, {}), (2, {"intra": 1, "inter": 2})):
        monkeypatch.setattr(threads, "num_cores", lambda cores=cores: cores)
        threads.set_intra_op_threads()
        assert settings == expected


def test_a_loaded_translator_has_a_shard_for_each_core(monkeypatch, tmp_path):
    module = tf.Module()
    module.num_shards = tf.Variable(2)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    for cores, expected in ((1, 1), (3, 3), (16, threads.MAX_CORES)):
        monkeypatch.setattr(threads, "num_cores", lambda cores=cores: cores)
        threads.one_core_for_each_shard(loaded)
        assert loaded.num_shards.numpy() == expected
    threads.one_core_for_each_shard(tf.Module())  # another model is left as it is

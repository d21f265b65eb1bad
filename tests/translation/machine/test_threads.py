import os
import subprocess
import sys

import pytest
import tensorflow as tf

from keras_attn.translation.machine import threads
from keras_attn.translation.machine.threads import num_cores


def test_cores_are_those_that_the_process_may_use():
    assert 1 <= num_cores() <= os.cpu_count()


def test_only_few_cores_get_an_operation_each():
    code = (
        "import tensorflow as tf\n"
        "from keras_attn.translation.machine import threads\n"
        "for cores in (1, 16, 2):\n"
        "    threads.num_cores = lambda: cores\n"
        "    threads.one_core_for_each_operation()\n"
        "    print(tf.config.threading.get_intra_op_parallelism_threads())\n"
        "    print(tf.config.threading.get_inter_op_parallelism_threads())\n"
    )
    environment = {k: v for k, v in os.environ.items() if not k.startswith("TF_NUM_")}
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert [int(number) for number in found.stdout.split()] == [0, 0, 0, 0, 1, 2]


@pytest.mark.parametrize(("cores", "expected"), [(1, 1), (3, 3), (16, threads.MAX_CORES)])
def test_a_loaded_translator_has_a_shard_for_each_core(cores, expected, monkeypatch, tmp_path):
    monkeypatch.setattr(threads, "num_cores", lambda: cores)
    module = tf.Module()
    module.num_shards = tf.Variable(2)
    tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    threads.one_core_for_each_shard(loaded)
    assert loaded.num_shards.numpy() == expected


def test_another_saved_model_is_left_as_it_is(tmp_path):
    tf.saved_model.save(tf.Module(), str(tmp_path))
    threads.one_core_for_each_shard(tf.saved_model.load(str(tmp_path)))

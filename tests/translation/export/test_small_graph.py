import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from keras_attn.translation.export import small_graph


class Counting(tf.Module):
    """Functions with what must stay: state, loops, conditions, an order of operations."""

    def __init__(self):
        super().__init__()
        self.count = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)], autograph=False)
    def total(self, x):
        """Three times `(x + 2)²` or its negative; twice the number of earlier calls, plus one."""
        before = self.count.read_value()
        self.count.assign_add(1)
        after = self.count.read_value()
        shown = tf.debugging.assert_less(tf.size(x), 4, message="too many")
        with tf.control_dependencies([shown, shown]):
            doubled = (x + 2) * (x + 2) + (2 + x - x - 2)
        _, sums = tf.while_loop(
            lambda i, s: i < 3, lambda i, s: (i + 1, s + doubled + 1 - 1), (0, tf.zeros_like(x))
        )
        return tf.cond(tf.size(x) > 1, lambda: sums + 1 - 1, lambda: -sums), before + after


def functions(folder):
    content = (folder / "saved_model.pb").read_bytes()
    return saved_model_pb2.SavedModel.FromString(content).meta_graphs[0].graph_def.library.function


@pytest.fixture
def folder(tmp_path):
    tf.saved_model.save(Counting(), str(tmp_path))
    return tmp_path


def test_the_graph_is_smaller_and_computes_the_same(folder):
    nodes, size = (
        lambda: sum(len(one.node_def) for one in functions(folder)),
        lambda: (folder / "saved_model.pb").stat().st_size,
    )
    before = nodes(), size()
    small_graph.make_small(folder)
    assert nodes() < 0.9 * before[0]
    assert size() < 0.85 * before[1]
    loaded = tf.saved_model.load(str(folder))
    for count in range(2):
        found, counts = loaded.total(tf.constant([1, 5]))
        assert found.numpy().tolist() == [27, 147]
        assert int(counts) == 2 * count + 1  # read before and after the assignment
    assert loaded.total(tf.constant([1]))[0].numpy().tolist() == [-27]
    with pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        loaded.total(tf.range(4))


def test_the_fingerprint_is_that_of_the_file(folder):
    before = tf.saved_model.experimental.read_fingerprint(str(folder))
    small_graph.make_small(folder)
    after = tf.saved_model.experimental.read_fingerprint(str(folder))
    assert after.saved_model_checksum != before.saved_model_checksum

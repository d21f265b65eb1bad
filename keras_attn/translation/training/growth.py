"""Growth of a model: half of the blocks are trained first, which takes half of the time."""

from collections.abc import Iterator
from contextlib import contextmanager

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.training.callbacks import Budget


class Growth(keras.callbacks.Callback):
    """Callback that trains the first half of the blocks of each stack, and all from a share on.

    The other blocks must add nothing when they join, as `lexical_start` leaves them: then the model
    is the same before and after (progressive stacking, Gong et al. 2019, with other first weights).
    """

    def __init__(self, share: float, budget: Budget):
        super().__init__()
        self._share, self._budget = share, budget

    def on_train_batch_begin(self, batch, logs=None):
        is_half = self._budget.done < self._share
        if is_half != self.model.is_half:
            self.model.is_half = is_half
            self.model.make_train_function(force=True)


@contextmanager
def first_half(model: Transformer) -> Iterator[list[keras.Variable]]:
    """Calls of `model` run through the first half of the blocks; gives the weights of the others.

    >>> model = Transformer.from_sizes(5, 5, 4, 2, 4, 8, 2)
    >>> with first_half(model):
    ...     [len(stack.blocks) for stack in (model.encoder, model.decoder)]
    [2, 1]
    """
    stacks = {stack: stack.blocks for stack in (model.encoder, model.decoder)}
    left_out = [block for blocks in stacks.values() for block in blocks[(len(blocks) + 1) // 2 :]]
    try:
        for stack, blocks in stacks.items():
            stack.num_layers = (len(blocks) + 1) // 2
        yield [weight for block in left_out for weight in block.trainable_weights]
    finally:
        for stack, blocks in stacks.items():
            stack.num_layers = len(blocks)

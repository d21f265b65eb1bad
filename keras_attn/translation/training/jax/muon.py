"""Muon for JAX."""

from collections import defaultdict

import keras
from keras import ops

from keras_attn.translation.training.muon import Muon


@keras.saving.register_keras_serializable(package="keras_attn")
class StackedMuon(Muon):
    """`Muon` that updates matrices of one shape together.

    There is less to compile, and an accelerator has fewer and larger products to compute.
    """

    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        together = defaultdict(list)
        for gradient, variable in zip(grads, trainable_variables, strict=True):
            index = self._get_variable_index(variable)
            if self.adam_velocities[index] is None:
                sizes = tuple(sorted(variable.shape))
                matrix = gradient, variable, self.momentums[index]
                together[sizes, self._turn_of(variable)].append(matrix)
            else:
                self.update_step(gradient, variable, learning_rate)
        for (_, turn), matrices in together.items():
            self._update_matrices(matrices, learning_rate, turn)

    def _directions(self, matrices):
        def wide(x):
            return ops.transpose(x) if x.shape[0] > x.shape[1] else x

        stacked = ops.stack([wide(matrix) for matrix in matrices])
        found = self.zeropower_via_newtonschulz5(stacked, self.ns_steps)
        return [
            along if along.shape == matrix.shape else ops.transpose(along)
            for along, matrix in zip(ops.unstack(found), matrices, strict=True)
        ]

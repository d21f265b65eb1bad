"""Training step: loss, gradients and optimizer update."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import keras

from keras_attn.layers.transformer import Transformer
from keras_attn.translation.config import Config
from keras_attn.translation.training import muon, seeds
from keras_attn.translation.training.jax import processes
from keras_attn.translation.training.schedule import WarmUpStableDecay
from keras_attn.translation.training.translation_loss import TranslationLoss


class TrainingStep(keras.Model):
    """Keras model whose `fit` trains a `Transformer` with `TranslationLoss` and Muon.

    The part that all backends share; train with `Trainer`, which is of the backend in use.

    Args:
        model: Built model.
        config: Configuration of loss, optimizer and schedule.

    Attributes:
        schedule: Learning-rate schedule. Assign its `done` and `left` before each batch.
        step: Number of batches trained on, a Keras variable.
    """

    _optimizer_class = muon.Muon

    def __init__(self, model: Transformer, config: Config):
        super().__init__()
        self.model = model
        self.step = keras.Variable(0, dtype="int32", trainable=False)
        self._seed = config.seed
        num_sampled = int(config.sampled_softmax_fraction * model.decoder.vocab_size)
        self._loss_of = TranslationLoss(model, config.label_smoothing, num_sampled)
        self._mean_loss = keras.metrics.Mean(name="loss")
        self.schedule = WarmUpStableDecay(
            config.learning_rate,
            config.warmup_steps,
            config.cooldown_fraction,
            config.inverse_sqrt_start,
        )
        # `fit` must know them as variables of this model.
        self._budget = [self.schedule.done, self.schedule.left]
        optimizer = self._optimizer_class(
            self.schedule,
            adam_lr_ratio=config.adam_lr_ratio,
            adam_beta_1=config.adam_beta_1,
            adam_beta_2=config.adam_beta_2,
            momentum=config.muon_momentum,
            exclude_layers=["logits"],
            ns_steps=config.newton_schulz_steps,
            dtype=config.precision,
            every=config.matrix_update_interval,
            global_clipnorm=config.clip_norm,
            gradient_accumulation_steps=config.accumulate if config.accumulate > 1 else None,
        )
        optimizer.build(model.trainable_variables)
        self.compile(optimizer, jit_compile=keras.backend.backend() == "jax")
        self.built = True

    @property
    def metrics(self):
        return [self._mean_loss]

    def _update(self, data: Any) -> dict[str, Any]:
        """Train on a batch, and return the mean loss of the epoch so far."""
        (source, target_in), target_out = data
        seed = seeds.of(self._seed, self.step.value)
        loss, gradients = self._loss_and_gradients((source, target_in, target_out), seed)
        self.optimizer.apply(gradients, self.model.trainable_variables)
        self.step.assign_add(1)
        self._mean_loss.update_state(loss)
        return {"loss": self._mean_loss.result()}

    def _loss_and_gradients(self, batch: Sequence[Any], seed: Any) -> tuple[Any, list[Any]]:
        raise NotImplementedError

    def compile_for(self, shapes: Sequence[tuple[int, int, int]]) -> None:
        """Begin to compile the step for batches of these shapes `(B, S, T)`, in the background.

        On TensorFlow, a shape is prepared when its first batch comes. `B` is the number of rows of
        this process.
        """

    def stop_compiling(self) -> None:
        """Leave out the shapes of `compile_for` whose compilation has not begun."""


if keras.backend.backend() == "jax":
    import jax

    from keras_attn.translation.training.jax import replicas
    from keras_attn.translation.training.jax.compiled_steps import CompiledSteps

    class Trainer(TrainingStep):
        """`TrainingStep` on JAX: a function of the state, compiled once for each shape."""

        _optimizer_class = muon.StackedMuon

        def __init__(self, model: Transformer, config: Config):
            super().__init__(model, config)
            # Keras asks for them several times a step and collects them again each time. They are
            # behind a function, because Keras would track a list.
            kinds = ("trainable_variables", "non_trainable_variables", "metrics_variables")
            found = {kind: getattr(super(TrainingStep, self), kind) for kind in kinds}
            self._found = found.__getitem__
            self._distribution = keras.distribution.distribution()
            shardings = None
            if self._distribution:
                shardings = jax.tree.map(lambda value: value.sharding, self._state())
            self._steps = CompiledSteps(self._step_in_any_thread, shardings)

        def compile_for(self, shapes):
            state = self._state()
            for rows, source, target in shapes:
                rows *= processes.count()
                source_ids, target_ids = self._ids(rows, source), self._ids(rows, target)
                self._steps.begin(state, ((source_ids, target_ids), target_ids))

        def _ids(self, *shape):
            layout = self._distribution and self._distribution.get_data_layout(shape)
            sharding = layout and layout.backend_layout
            return jax.ShapeDtypeStruct(shape, "int32", sharding=sharding)

        def _state(self):
            return tuple([one.value for one in group] for group in self._groups)

        def _step_in_any_thread(self, state, batch):
            # Keras keeps a distribution for each thread.
            with self._distribution.scope() if self._distribution else nullcontext():
                return self.train_step(state, batch)

        def stop_compiling(self):
            self._steps.stop()

        def make_train_function(self, force=False):
            self.train_function = lambda state, batches: self._steps(state, next(batches))

        @property
        def trainable_variables(self):
            return self._found("trainable_variables")

        @property
        def non_trainable_variables(self):
            return self._found("non_trainable_variables")

        @property
        def metrics_variables(self):
            return self._found("metrics_variables")

        @property
        def _groups(self):
            """Variables of the state, in the groups and the order of Keras `fit`."""
            return (
                self.trainable_variables,
                self.non_trainable_variables,
                self.optimizer.variables,
                self.metrics_variables,
            )

        def train_step(self, state, data):
            pairs = zip(sum(self._groups, []), sum(state, []), strict=True)
            with keras.StatelessScope(state_mapping=pairs) as scope:
                logs = self._update(data)
            values = tuple(
                [scope.get_current_value(one) for one in group] for group in self._groups
            )
            return logs, values

        def _loss_and_gradients(self, batch, seed):
            source, target_in, target_out = batch
            weights = self.model.trainable_variables
            others = self.model.non_trainable_variables
            if isinstance(keras.distribution.distribution(), keras.distribution.DataParallel):
                return replicas.loss_and_gradients(self._loss_of, weights, others, batch, seed)

            def loss_of(values):
                pairs = [*zip(weights, values, strict=True), *((one, one.value) for one in others)]
                with keras.StatelessScope(state_mapping=pairs):
                    return self._loss_of(source, target_in, target_out, seed)

            return jax.value_and_grad(loss_of)([weight.value for weight in weights])

else:
    from keras_attn.translation.training import sharding

    class Trainer(TrainingStep):  # type: ignore[no-redef]
        """`TrainingStep` on TensorFlow: a shard of the batch for each core, a fused optimizer."""

        _optimizer_class = muon.FusedMuon

        def __init__(self, model: Transformer, config: Config):
            super().__init__(model, config)
            self._num_shards = sharding.num_shards(config.batch_tokens)

        def train_step(self, data):
            return self._update(data)

        def _loss_and_gradients(self, batch, seed):
            weights = [weight.value for weight in self.model.trainable_variables]
            return sharding.loss_and_gradients(
                self._loss_of, weights, batch, seed, self._num_shards
            )

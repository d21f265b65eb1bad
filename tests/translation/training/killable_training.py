"""Trainings in `folders`, one after another, that save after each batch and leave their weights.

`test_resume.py` runs it with the names `folders` and `steps` set.
"""

import numpy as np
from small_training import SmallTraining

from keras_attn.translation.training import callbacks

callbacks.CHECKPOINT_SECONDS = 0.0
training = SmallTraining(folders[0])  # noqa: F821
for folder in folders:  # noqa: F821
    run = training.fit(folder, steps=steps)  # noqa: F821
    assert 2 < training.stream.steps_per_epoch < run.steps / 3 and run.steps == steps  # noqa: F821
    np.savez(folder / "weights.npz", *training.model.get_weights())

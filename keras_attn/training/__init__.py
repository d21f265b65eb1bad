"""Faster training of models with Keras `fit`: optimizers, a loss, and a step in parallel shards."""

from keras_attn.training.adam import Adam
from keras_attn.training.loss import SampledCrossEntropy
from keras_attn.training.muon import Muon
from keras_attn.training.step import set_up_cpu, speed_up

__all__ = ["Adam", "Muon", "SampledCrossEntropy", "set_up_cpu", "speed_up"]

"""All public layers. Importing this module registers their classes with Keras."""

from keras_attn.layers.decoder import Decoder
from keras_attn.layers.decoder_block import DecoderBlock
from keras_attn.layers.embedding import TokenEmbedding
from keras_attn.layers.encoder import Encoder, EncoderBlock
from keras_attn.layers.feed_forward import FeedForward
from keras_attn.layers.gaussian import GaussianKernelAttention
from keras_attn.layers.multi_head import MultiHeadAttention
from keras_attn.layers.positions import LearnedPositionalEncoding, PositionalEncoding
from keras_attn.layers.relative_positions import (
    AlibiBias,
    RelativePosition,
    ShawRelativePosition,
    T5RelativeBias,
)
from keras_attn.layers.residual import Residual
from keras_attn.layers.rotary import RotaryEmbedding
from keras_attn.layers.scoring import (
    AdditiveAttention,
    BilinearAttention,
    DotProductAttention,
    ScoredAttention,
)
from keras_attn.layers.softmax import masked_softmax
from keras_attn.layers.transformer import Transformer

__all__ = [
    "AdditiveAttention",
    "AlibiBias",
    "BilinearAttention",
    "Decoder",
    "DecoderBlock",
    "DotProductAttention",
    "Encoder",
    "EncoderBlock",
    "FeedForward",
    "GaussianKernelAttention",
    "LearnedPositionalEncoding",
    "MultiHeadAttention",
    "PositionalEncoding",
    "RelativePosition",
    "Residual",
    "RotaryEmbedding",
    "ScoredAttention",
    "ShawRelativePosition",
    "T5RelativeBias",
    "TokenEmbedding",
    "Transformer",
    "masked_softmax",
]

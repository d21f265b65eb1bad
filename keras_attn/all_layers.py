"""All public layers. Importing this module registers their classes with Keras."""

from keras_attn.decoder import Decoder
from keras_attn.decoder_block import DecoderBlock
from keras_attn.embedding import TokenEmbedding
from keras_attn.encoder import Encoder, EncoderBlock
from keras_attn.feed_forward import FeedForward
from keras_attn.gaussian import GaussianKernelAttention
from keras_attn.multi_head import MultiHeadAttention
from keras_attn.positions import LearnedPositionalEncoding, PositionalEncoding
from keras_attn.relative import AlibiBias, ShawRelativePosition, T5RelativeBias
from keras_attn.residual import Residual
from keras_attn.rotary import RotaryEmbedding
from keras_attn.scoring import AdditiveAttention, BilinearAttention, DotProductAttention
from keras_attn.softmax import masked_softmax
from keras_attn.transformer import Transformer

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
    "Residual",
    "RotaryEmbedding",
    "ShawRelativePosition",
    "T5RelativeBias",
    "TokenEmbedding",
    "Transformer",
    "masked_softmax",
]

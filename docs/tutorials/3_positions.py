# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 3 Positions
#
# This tutorial covers section 11.6.3 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html),
# in our own words and code, and goes on to learned and relative positions. Attention alone ignores the order of its input;
# tutorial [2](2_self_attention.md) showed it with one word at two positions.

# %%
# %matplotlib inline
import keras
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn import plots

keras.utils.set_random_seed(0)
np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## Sines and cosines
#
# The encoding of Vaswani et al. gives each position $t$ a vector of $D$ numbers and adds it to the input:
#
# $$P_{t,\,2j} = \sin\frac{t}{10000^{2j/D}}, \qquad P_{t,\,2j+1} = \cos\frac{t}{10000^{2j/D}}$$
#
# The layer takes the width from its input. Its first argument is `max_len`, not the width as in the book:
# `PositionalEncoding(32, 0)` of the book is `PositionalEncoding()` here.

# %%
zeros = np.zeros((1, 60, 32))  # (B, T, D)
encoding = convert_to_numpy(keras_attn.PositionalEncoding()(zeros))[0]
print(encoding.shape)
print(encoding[:3, :6])

# %% [markdown]
# ## Curves
#
# Columns 6 and 7 are the sine and the cosine of one rate, columns 8 and 9 those of a slower rate.

# %%
plots.plot_encoding_curves(encoding, range(6, 10))

# %% [markdown]
# ## Heat map
#
# All columns: the left ones change fast with the position, the right ones slowly.

# %%
plots.plot_encoding(encoding)

# %% [markdown]
# ## Binary counting
#
# Binary numbers work the same way: the lowest bit changes with every number, the next with every second one, and so on. Sines
# and cosines do this with continuous numbers.

# %%
for number in range(8):
    print(f"{number} in binary is {number:03b}")
plots.plot_binary_counting(num_bits=3, encoding=encoding)

# %% [markdown]
# ## Similarity of positions
#
# The cosine similarity of two encodings depends on their distance alone: each diagonal has one colour. Near positions are
# similar.

# %%
plots.plot_position_similarity(encoding)

# %% [markdown]
# ## The rotation matrix of an offset
#
# A step of $\delta$ positions turns each pair of columns by an angle of $\delta r_j$, with $r_j = 10000^{-2j/D}$. The matrix
# is the same for every position, so a layer can learn to attend "three tokens back":
#
# $$\begin{pmatrix} \cos \delta r_j & \sin \delta r_j \\ -\sin \delta r_j & \cos \delta r_j \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix} = \begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix}$$

# %%
j, offset = 4, 3
angle = offset * 10000 ** (-2 * j / 32)
rotation = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
print(f"rotation of columns {2 * j} and {2 * j + 1} for {offset} positions")
print(rotation)
pair = encoding[:, 2 * j : 2 * j + 2]
turned = pair[:-offset] @ rotation.T
print(
    f"largest difference to the encoding {offset} positions on: {np.abs(turned - pair[offset:]).max():.0e}"
)

# %% [markdown]
# ### The rotation, drawn
#
# The pair of columns moves on a circle. From each of four positions, the arrow leads three positions on; all arrows turn by
# the same angle.

# %%
figure = Figure((4, 4), layout="constrained")
axes = figure.subplots()
axes.plot(pair[:, 0], pair[:, 1], ".", color="lightgrey")
for t in (0, 8, 16, 24):
    axes.annotate("", pair[t + offset], pair[t], arrowprops={"arrowstyle": "->", "color": "C3"})
    axes.annotate(f"t = {t}", 1.2 * pair[t], ha="center", va="center")
axes.set_xlim(-1.5, 1.5)
axes.set_ylim(-1.5, 1.5)
axes.set_aspect("equal")
axes.set_xlabel(f"column {2 * j}")
axes.set_ylabel(f"column {2 * j + 1}")
figure

# %% [markdown]
# ## Learned encodings do not extrapolate
#
# `LearnedPositionalEncoding` has a table with a row for each position and learns it like any weight. Rows that no training
# sentence reached keep their random start. The task: is the token 1 in the first or in the second half of the sequence?
# Trained on positions 0 to 15 of a table with 32 rows, tested on positions 16 to 31.


# %%
def examples(number, start, random):
    """Sequences of 16 tokens at positions from `start`: one 1 among 2s, and which half it is in."""
    places = random.integers(0, 16, number)
    ids = np.full((number, 16), 2)
    ids[np.arange(number), places] = 1
    return ids, (places >= 8).astype(int)


class Halves(keras.Model):
    def __init__(self, position):
        super().__init__()
        self.tokens = keras.layers.Embedding(3, 16)
        self.position = position
        self.attention = keras_attn.MultiHeadAttention(16, 2)
        self.answer = keras.layers.Dense(2)

    def call(self, ids, start=0):
        x = self.position(self.tokens(ids), start=start)
        return self.answer(self.attention(x, x)[:, 0])


random = np.random.default_rng(0)
ids, halves = examples(2000, 0, random)
test_ids, test_halves = examples(500, 0, random)
learned = Halves(keras_attn.LearnedPositionalEncoding(max_len=32))
learned.compile(
    keras.optimizers.Adam(1e-2), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
)
learned.fit(ids, halves, epochs=12, batch_size=64, verbose=0)
for start in (0, 16):
    answers = convert_to_numpy(learned(test_ids, start=start)).argmax(-1)
    print(f"positions {start} to {start + 15}: {np.mean(answers == test_halves):.0%} right")

table = convert_to_numpy(learned.position.weights[0])
print(
    "mean length of a row: 0 to 15",
    np.linalg.norm(table[:16], axis=1).mean().round(2),
    " 16 to 31",
    np.linalg.norm(table[16:], axis=1).mean().round(2),
)
plots.plot_encoding(table)

# %% [markdown]
# And past the end of the table there is no row at all, which the layer says:

# %%
try:
    learned.position(np.zeros((1, 16, 16)), start=20)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Relative schemes
#
# What matters is often the distance, not the position. Four schemes change the scores inside attention. They are passed as
# `MultiHeadAttention(..., position=...)`.
#
# | scheme | score of query $t$ and key $s$ | learned |
# |---|---|---|
# | `ShawRelativePosition(max_distance)` | $q_t \cdot (k_s + a_{s-t}) / \sqrt{K}$, and values $v_s + b_{s-t}$ | vectors $a$, $b$ for each distance, up to a largest one |
# | `T5RelativeBias()` | $q_t \cdot k_s / \sqrt{K} + b_{\mathrm{bucket}(s-t)}$ | a number for each head and range of distances |
# | `AlibiBias()` | $q_t \cdot k_s / \sqrt{K} - m \lvert t - s \rvert$ | nothing |
# | `RotaryEmbedding()` | $R_t q_t \cdot R_s k_s / \sqrt{K}$ with rotations $R$ | nothing |
#
# All tokens below are the same, so every difference between the weights comes from the positions.

# %%
schemes = {
    "Shaw": keras_attn.ShawRelativePosition(max_distance=4),
    "T5": keras_attn.T5RelativeBias(num_buckets=16, max_distance=32),
    "ALiBi": keras_attn.AlibiBias(),
    "rotary": keras_attn.RotaryEmbedding(),
}
token = np.random.default_rng(0).normal(size=32)
tokens = np.tile(token, (1, 24, 1))
weights = {}
for name, scheme in schemes.items():
    attention = keras_attn.MultiHeadAttention(32, 4, position=scheme)
    attention(tokens, tokens)  # creates the weights
    if name == "T5":  # its biases start at 0; random ones stand for learned ones
        shape = attention.position.weights[0].shape
        attention.position.set_weights([np.random.default_rng(1).normal(size=shape)])
    _, weights[name] = attention(tokens, tokens, return_attention_scores=True)
plots.plot_attention(weights)

# %% [markdown]
# ### Only the distance counts
#
# Minus the score at distance 0, the scores of one head depend on the distance alone: every query gives the same curve.

# %%
figure = Figure((7, 3.5), layout="constrained")
axes = figure.subplots()
for name, of_layer in weights.items():
    scores = np.log(convert_to_numpy(of_layer)[0, 0])
    scores = scores - np.diagonal(scores)[:, None]
    distances = np.arange(-12, 13)
    diagonals = [np.diagonal(scores, d) for d in distances]
    spread = max(np.ptp(diagonal) for diagonal in diagonals)
    print(f"{name:8} largest difference between queries at one distance: {spread:.0e}")
    axes.plot(distances, [diagonal.mean() for diagonal in diagonals], label=name)
axes.set_xlabel("distance s - t from query to key")
axes.set_ylabel("score minus score at distance 0")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ### Exercise: a learnable encoding, and embeddings of distances
#
# The book asks for a positional encoding that is learned: `LearnedPositionalEncoding`. It also asks for embeddings of the
# *distance* between query and key: `ShawRelativePosition` learns a vector for each distance, `T5RelativeBias` a number.
#
# ### Exercise: only self-attention with positions, stacked
#
# What could go wrong in a deep stack of nothing else? The position is added once, at the bottom, and each layer mixes it
# with the rest, so upper layers get it diluted; schemes inside the scores give it to each layer. Weighted means of weighted
# means also make all positions more alike from layer to layer. Residual connections and the feed-forward network work against this;
# tutorial [5](5_transformer.md) measures the effect. And cost grows with the square of the length: tutorial
# [4](4_cost.md).

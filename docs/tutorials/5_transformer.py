# %% [markdown]
# # 5 A Transformer from its parts
#
# This tutorial covers sections 11.7 and 11.9 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/transformer.html), in our own words and code: we
# build an encoder block from its parts, look at what residual connections and normalisation do, and train two Transformers on a toy
# task.

# %%
import keras
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)

# %% [markdown]
# ## An encoder block from its parts
#
# A block has two sub-layers: self-attention, which mixes positions, and a feed-forward network, which works on each position by itself.
# `Residual` puts normalisation, dropout and the sum around each:
#
# $$y = x + \mathrm{attention}(\mathrm{norm}(x)), \qquad z = y + \mathrm{FFN}(\mathrm{norm}(y))$$


# %%
class Block(keras.layers.Layer):
    def __init__(self, num_hiddens, ffn_num_hiddens, num_heads):
        super().__init__()
        self.attention = keras_attn.MultiHeadAttention(
            num_hiddens, num_heads
        )
        self.around_attention = keras_attn.Residual()
        self.feed_forward = keras_attn.FeedForward(ffn_num_hiddens)
        self.around_feed_forward = keras_attn.Residual()

    def call(self, x, valid_lens=None):
        x = self.around_attention(
            x,
            sublayer=lambda y: self.attention(y, y, valid_lens=valid_lens),
        )
        return self.around_feed_forward(x, sublayer=self.feed_forward)


x = random.normal(size=(2, 5, 32)).astype("float32")
by_hand, block = Block(32, 64, 4), keras_attn.EncoderBlock(32, 64, 4)
by_hand(x), block(x)  # creates the weights
own = {
    tuple(weight.path.split("/")[-2:]): weight for weight in block.weights
}
for weight in by_hand.attention.weights + by_hand.feed_forward.weights:
    weight.assign(own[tuple(weight.path.split("/")[-2:])])
outputs = [
    convert_to_numpy(layer(x, valid_lens=np.array([5, 3])))
    for layer in (by_hand, block)
]
print(
    "the block from its parts equals EncoderBlock:",
    np.allclose(*outputs, atol=1e-5),
)

# %% [markdown]
# ## What residual connections do
#
# A stack of attention layers alone makes all positions alike: each layer replaces a vector by a mean. After a few layers the sentence is
# one vector, repeated. A residual connection keeps each position's own vector in the sum. It does so best in pre-norm; with random
# weights, post-norm blocks make the positions alike as well, only later.


# %%
def similarity(x):
    """Mean cosine similarity of the vectors of different positions."""
    x = x[0] / np.linalg.norm(x[0], axis=-1, keepdims=True)
    return (x @ x.T)[~np.eye(len(x), dtype=bool)].mean()


def stack(make_layer, number=12):
    keras.utils.set_random_seed(2)
    x = np.random.default_rng(1).normal(size=(1, 10, 32)).astype("float32")
    found = [similarity(x)]
    for _ in range(number):
        x = convert_to_numpy(make_layer()(x))
        found.append(similarity(x))
    return found


class Alone(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = keras_attn.MultiHeadAttention(32, 4)

    def call(self, x):
        return self.attention(x, x)


stacks = {
    "attention alone": Alone,
    "blocks, pre-norm": lambda: keras_attn.EncoderBlock(32, 64, 4),
    "blocks, post-norm": lambda: keras_attn.EncoderBlock(
        32, 64, 4, norm_first=False
    ),
}
figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for name, make_layer in stacks.items():
    values = stack(make_layer)
    print(f"{name:18} after 12 layers: {values[-1]:.2f}")
    axes.plot(values, label=name)
axes.set_xlabel("layers")
axes.set_ylabel("similarity of positions")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ## Normalisation before or after
#
# The first Transformer normalised the sum (*post-norm*), as the textbook does. Most models of today normalise the input of each sub-layer
# (*pre-norm*): a path without any normalisation leads from the output to the input, so gradients keep their size and training needs
# less care. `norm_first=False` is post-norm. In pre-norm the sum grows with depth, which is why a stack ends with one more
# normalisation.


# %%
def sizes(norm_first, number=12):
    keras.utils.set_random_seed(2)
    x = np.random.default_rng(1).normal(size=(1, 10, 32)).astype("float32")
    found = [x.std()]
    for _ in range(number):
        x = convert_to_numpy(
            keras_attn.EncoderBlock(32, 64, 4, norm_first=norm_first)(x)
        )
        found.append(x.std())
    return found


figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for norm_first, name in ((True, "pre-norm"), (False, "post-norm")):
    axes.plot(sizes(norm_first), label=name)
axes.set_xlabel("layers")
axes.set_ylabel("standard deviation of the vectors")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ## Encoder–decoder on a toy task
#
# The task: write six digits backwards. The encoder reads the digits; the decoder writes one digit after the other and attends to the
# encoder's memory. In training, the decoder gets the right digits so far as its input (*teacher forcing*), and the causal mask hides
# the ones that follow.

# %%
BEGIN, FIRST_DIGIT = 1, 3  # ids; 0 is padding


def examples(number):
    digits = random.integers(FIRST_DIGIT, FIRST_DIGIT + 10, (number, 6))
    return digits, digits[:, ::-1]


def after_begin(target):
    """Input of the decoder: the target, one place later."""
    return np.concatenate(
        [np.full((len(target), 1), BEGIN), target[:, :-1]], axis=1
    )


source, target = examples(8000)
test_source, test_target = examples(500)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model = keras_attn.Transformer.from_sizes(
    13, 13, 1, 1, num_hiddens=64, ffn_num_hiddens=128, num_heads=4
)
model.compile(keras.optimizers.Adam(3e-3), loss, metrics=["accuracy"])
history = model.fit(
    (source, after_begin(target)),
    target,
    batch_size=128,
    epochs=5,
    verbose=0,
)
print(
    "training accuracy after each epoch:",
    np.round(history.history["accuracy"], 3),
)

# %% [markdown]
# ### Translate greedily
#
# After training, nobody gives the right digits. The decoder starts with the begin token, and each most probable digit is its next input.


# %%
def write_backwards(source):
    written = np.full((len(source), 1), BEGIN)
    for _ in range(6):
        logits = convert_to_numpy(model((source, written)))
        written = np.concatenate(
            [written, logits[:, -1:].argmax(-1)], axis=1
        )
    return written[:, 1:]


answers = write_backwards(test_source)
print(
    f"all six digits right: {(answers == test_target).all(-1).mean():.1%}"
)
for digits, answer in zip(
    test_source[:3] - FIRST_DIGIT, answers[:3] - FIRST_DIGIT, strict=True
):
    print(*digits, " -> ", *answer)

# %% [markdown]
# The cross-attention shows how: digit by digit, some head attends to the source from the end to the beginning.

# %%
_, weights = model(
    (test_source[:1], after_begin(answers[:1])),
    return_attention_scores=True,
)
rows, columns = (
    [str(digit) for digit in ids[0] - FIRST_DIGIT]
    for ids in (answers, test_source)
)
plot_attention(weights["decoder/block_0/cross_attention"], rows, columns)

# %% [markdown]
# ## Decoder only
#
# A language model needs no encoder: source and target are one sequence, and the causal mask applies to all of it. The loss counts the
# target part alone.


# %%
def one_sequence(source, target):
    whole = np.concatenate(
        [source, np.full((len(source), 1), BEGIN), target], axis=1
    )
    return whole[:, :-1], whole[:, 1:]


x, y = one_sequence(source, target)
of_target = np.zeros(y.shape)
of_target[:, 6:] = 1
ids = keras.Input((None,), dtype="int32")
decoder = keras_attn.Decoder(13, 2, 64, 128, 4, cross_attention=False)
language_model = keras.Model(ids, decoder(ids))
language_model.compile(
    keras.optimizers.Adam(3e-3), loss, weighted_metrics=["accuracy"]
)
history = language_model.fit(
    x, y, sample_weight=of_target, batch_size=128, epochs=5, verbose=0
)
print(
    "training accuracy after each epoch:",
    np.round(history.history["accuracy"], 3),
)
test_x, test_y = one_sequence(test_source, test_target)
found = convert_to_numpy(language_model(test_x)).argmax(-1)[:, 6:]
print(f"digits right on the test: {(found == test_y[:, 6:]).mean():.1%}")

# %% [markdown]
# ### Which kind for what
#
# | kind | attention | trained to | used for |
# |---|---|---|---|
# | encoder only | all positions | fill in hidden tokens | classification, search |
# | encoder–decoder | encoder: all; decoder: causal, and cross-attention | write a target for a source | translation, summaries |
# | decoder only | causal | write the next token | language models |
#
# Here the kinds are `Encoder`, `Transformer` and `Decoder(cross_attention=False)`.
#
# ### Exercise: a deeper Transformer
#
# Twice the layers cost about twice the time: [How cost grows](../benchmarks/training.md#how-cost-grows) has the measured times from 1 to
# 16 layers. Whether a deeper model is better depends on the number of tokens that it processes: in ten minutes, one layer on each
# side learned more from the corpus of this project than four and two ([Learning](../benchmarks/learning.md)).
#
# ### Exercise: additive attention in a Transformer
#
# Possible, but expensive: additive attention holds $T S n$ numbers where the dot product holds $T S$
# ([tutorial 1](1_attention_pooling.ipynb#exercise-the-cost-of-a-score)), and it has no single matrix product. With the factor
# $1/\sqrt{d}$, its advantage for wide vectors is gone.
#
# ### Exercise: encoder, decoder or both for a language model
#
# The decoder alone: the next token must not be seen, so every layer needs the causal mask, and there is no source to encode.
#
# Next: [6 The translator](6_translator.ipynb).

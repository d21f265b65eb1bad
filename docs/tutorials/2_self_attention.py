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
# # 2 Self-attention and heads
#
# This tutorial covers sections 11.5 and 11.6.1 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), in our own words and
# code: self-attention step by step on a Japanese sentence, the causal mask, and several heads. Tutorial
# [1 Attention pooling](1_attention_pooling.md) comes before it.

# %%
# %matplotlib inline
import json

import keras
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(1)
np.set_printoptions(precision=2, suppress=True)
random = np.random.default_rng(0)


def print_table(names, rows, columns):
    print(" " * 8 + "".join(f"{column:>10}" for column in columns))
    for name, row in zip(names, rows, strict=True):
        print(f"{name:8}" + "".join(f"{value:10.2f}" for value in row))


# %% [markdown]
# ## Self-attention keeps the shape
#
# In self-attention, queries, keys and values are projections of the same sequence: each token attends to each token of its
# own sentence. The output has a vector for each token again, so such layers can be stacked.

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=100, num_heads=5, dropout=0.5)
x = np.ones((2, 4, 100))  # (B, T, D)
print(tuple(attention(x, x, x, valid_lens=np.array([3, 2])).shape))

# %% [markdown]
# ## Step by step on a Japanese sentence
#
# 妹 は 本 を 読む means "My sister reads a book": sister, topic marker, book, object marker, read. To follow each number by
# hand, we give each word a vector whose four features have a meaning. Trained vectors have no such names, but work the same
# way.

# %%
words = ["妹", "は", "本", "を", "読む"]
roman = ["imouto", "wa", "hon", "o", "yomu"]
features = ["person", "thing", "action", "particle"]
vectors = np.array(
    [[2, 0, 0, 0], [0, 0, 0, 2], [0, 2, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]], "float32"
)
print_table(roman, vectors, features)

# %% [markdown]
# The projection of the queries says what a word looks for: here an action looks for a person and a thing, all others look
# for their own kind. Keys and values are the vectors themselves.
#
# **Step 1, query · key.** One number for each pair of words, divided by $\sqrt{d} = 2$:

# %%
query_matrix = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]], "float32")
queries = vectors @ query_matrix
scores = queries @ vectors.T / np.sqrt(4)
print_table(roman, scores, roman)

# %% [markdown]
# **Step 2, softmax.** Each row becomes weights that add up to 1. The row of 読む gives most weight to 妹 and 本:

# %%
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
print_table(roman, weights, roman)

# %% [markdown]
# **Step 3, the sum of the values.** The new vector of 読む is the mean of all vectors with the weights of its row. It now
# says who reads and what is read:

# %%
new_vectors = weights @ vectors
print_table(roman, new_vectors, features)
print()
for word, weight, vector in zip(roman, weights[-1], vectors, strict=True):
    print(f"{weight:.2f} x {vector}  {word}")
print(f"sum:   {new_vectors[-1]}")

# %% [markdown]
# The layer computes the same three steps:

# %%
output, of_layer = keras_attn.DotProductAttention()(
    queries[None], vectors[None], return_attention_scores=True
)
assert np.allclose(convert_to_numpy(output)[0], new_vectors, atol=1e-5)
plot_attention(of_layer, words, words)

# %% [markdown]
# ## Context moves a word's vector
#
# はし (hashi) can be chopsticks or a bridge. Its vector alone cannot tell: it lies between "tool" and "place". Self-attention
# moves it towards the words around it. In はし で 食べる ("eat with chopsticks") it moves to "tool", in はし を 渡る ("cross the
# bridge") to "place".

# %%
meaning = {
    "はし": (1.0, 1.0),
    "食べる": (2.0, 0.0),
    "渡る": (0.0, 2.0),
    "で": (0.0, 0.0),
    "を": (0.0, 0.0),
}
sentences = [["はし", "で", "食べる"], ["はし", "を", "渡る"]]
layer = keras_attn.DotProductAttention()

figure = Figure((5, 4), layout="constrained")
axes = figure.subplots()
axes.plot(1, 1, "ko")
axes.annotate("hashi, alone", (1, 1), (1.04, 1.02))
for sentence, name in zip(
    sentences, ("hashi de taberu (eat)", "hashi o wataru (cross)"), strict=True
):
    x = np.array([[meaning[word] for word in sentence]])
    moved = convert_to_numpy(layer(x, x))[0, 0]
    print(name, "->", moved)
    axes.annotate("", moved, (1, 1), arrowprops={"arrowstyle": "->"})
    axes.annotate(name, moved, (0, -6), textcoords="offset points", ha="center", va="top")
axes.set_xlim(0.2, 1.8)
axes.set_ylim(0.3, 1.6)
axes.set_xlabel("tool")
axes.set_ylabel("place")
figure

# %% [markdown]
# ## The same word at two positions
#
# 人 は 人 を 助ける, "a person helps a person". Without positions, self-attention cannot tell the two 人 apart: same query,
# same keys, same output. A positional encoding added to the input makes them different. Tutorial [3](3_positions.md) shows
# how it works.

# %%
tokens = ["人", "は", "人", "を", "助ける"]
ids = np.array([[1, 2, 1, 3, 4]])
for position in (None, "sinusoidal"):
    x = keras_attn.TokenEmbedding(vocab_size=5, num_hiddens=16, position=position)(ids)
    output = convert_to_numpy(keras_attn.MultiHeadAttention(16, 2)(x, x))[0]
    distance = np.abs(output[0] - output[2]).max()
    print(f"position={position!s:12} largest difference of the two outputs: {distance:.3f}")

# %% [markdown]
# ## The causal mask as a growing table
#
# A decoder writes one token after the other. While it is trained on whole sentences, query `t` may attend to keys up to `t`
# only; otherwise it could copy the answer. The mask is a table that grows by one row and one column with each token:

# %%
for length in range(1, len(words) + 1):
    mask = np.tril(np.ones((length, length), int))
    print(f"after {' '.join(roman[:length])}")
    for row, word in zip(mask, roman, strict=False):
        print(f"    {word:8}", *row)

# %% [markdown]
# `use_causal_mask=True` is this mask. The weights above the diagonal are exactly 0, and a change of the last token changes
# no output before it:

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=1)
x = random.normal(size=(1, 5, 8))
before, weights = attention(x, x, use_causal_mask=True, return_attention_scores=True)
changed = x.copy()
changed[0, -1] += 10
after = attention(changed, changed, use_causal_mask=True)
print(
    "change of each output:", np.abs(convert_to_numpy(after) - convert_to_numpy(before))[0].max(-1)
)
plot_attention(convert_to_numpy(weights)[0], words, words)

# %% [markdown]
# ## Several heads by hand
#
# Multi-head attention projects queries, keys and values, divides each into `H` parts of size `K = D / H`, lets each part
# attend by itself, puts the results next to each other and projects once more:
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{K}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# Several heads cost as many multiplications as one head of the same total width.

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=2)
expected, expected_weights = attention(x, x, return_attention_scores=True)
query_kernel, key_kernel, value_kernel, output_kernel = (
    convert_to_numpy(w) for w in attention.weights
)


def split(z, num_heads=2):
    """(B, T, D) to (B, H, T, K)."""
    batch, length, width = z.shape
    return z.reshape(batch, length, num_heads, width // num_heads).swapaxes(1, 2)


q, k, v = split(x @ query_kernel), split(x @ key_kernel), split(x @ value_kernel)
weights = convert_to_numpy(keras_attn.masked_softmax(q @ k.swapaxes(-1, -2) / np.sqrt(4)))
heads = (weights @ v).swapaxes(1, 2).reshape(1, 5, 8)
print("weights are equal:", np.allclose(weights, convert_to_numpy(expected_weights), atol=1e-5))
print(
    "output is equal:  ", np.allclose(heads @ output_kernel, convert_to_numpy(expected), atol=1e-5)
)

# %% [markdown]
# ## One head against several
#
# One head makes one mean. A position that needs two things at once needs two. The task: from random tokens, name at each
# position the token *before* it and the *first* token of the sequence. Both models have the same number of weights.


# %%
def examples(number):
    ids = random.integers(1, 7, (number, 8))
    previous = np.concatenate([ids[:, :1], ids[:, :-1]], axis=1)
    first = np.repeat(ids[:, :1], 8, axis=1)
    return ids, [previous - 1, first - 1]


def make_model(num_heads):
    ids = keras.Input((8,), dtype="int32")
    x = keras_attn.TokenEmbedding(vocab_size=7, num_hiddens=32)(ids)
    attention = keras_attn.MultiHeadAttention(32, num_heads, name="attention")
    output, weights = attention(x, x, return_attention_scores=True)
    answers = [
        keras.layers.Dense(6, activation="softmax", name=name)(output)
        for name in ("previous", "first")
    ]
    model = keras.Model(ids, answers)
    model.compile(
        keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy", metrics=[["accuracy"]] * 2
    )
    return model, keras.Model(ids, weights)


train_ids, train_answers = examples(4000)
test_ids, test_answers = examples(500)
trained = {}
for num_heads in (1, 2):
    model, weights_of = make_model(num_heads)
    model.fit(train_ids, train_answers, batch_size=64, epochs=12, verbose=0)
    *_, previous, first = model.evaluate(test_ids, test_answers, verbose=0)
    trained[num_heads] = model, weights_of
    print(
        f"{num_heads} head(s): previous token right {previous:.0%}, first token right {first:.0%}"
    )

# %% [markdown]
# ### What different heads attend to
#
# With two heads, one attends to the token before, the other to the first token. Nobody told them to: they share the work
# because it lowers the loss. The single head has to divide its weight between both.

# %%
sequence = test_ids[:1]
both = {
    f"{number} head(s)": convert_to_numpy(weights_of(sequence))
    for number, (_, weights_of) in trained.items()
}
plot_attention(both, [str(i) for i in sequence[0]], [str(i) for i in sequence[0]])

# %% [markdown]
# ### Heads of a translator
#
# The heads of the trained Japanese-to-English translator, in its cross-attention: rows are the pieces of the translation,
# columns those of 昨日、公園で犬を見ました。 The weights were stored with `Translator.attend`; tutorial
# [6](6_translator.md) shows the call.

# %%
stored = json.load(open("docs/tutorials/translator.json", encoding="utf-8"))["attention"]
plot_attention(np.array(stored["weights"])[0], stored["target_pieces"], stored["source_pieces"])

# %% [markdown]
# ### Exercise: how important is a head?
#
# To prune a head, measure first what is lost without it. The rows of $W^O$ that belong to a head carry its output; with zeros
# there, the head says nothing. Then compare the accuracy. Here each head has a task of its own, so each is needed:

# %%
model, _ = trained[2]
layer = model.get_layer("attention")
kernels = layer.get_weights()
for head in range(2):
    without = [kernel.copy() for kernel in kernels]
    without[3][head * 16 : (head + 1) * 16] = 0  # rows of the output kernel
    layer.set_weights(without)
    *_, previous, first = model.evaluate(test_ids, test_answers, verbose=0)
    print(
        f"without head {head}: previous token right {previous:.0%}, first token right {first:.0%}"
    )
layer.set_weights(kernels)

# %% [markdown]
# Next: [3 Positions](3_positions.md).

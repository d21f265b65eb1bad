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
# # 1 Attention pooling, scores and masks
#
# This tutorial covers sections 11.1 to 11.3 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), a textbook that many
# courses use. The words, the data and the code are our own. [Names](names.md) maps each name of the book to a name here.
#
# You need the layers and the plots: `pip install "keras_attn[plots]"`. Every cell also runs on JAX and PyTorch: set
# `KERAS_BACKEND` before Python starts.

# %%
# %matplotlib inline
import keras
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(0)
np.set_printoptions(precision=3, suppress=True)

# %% [markdown]
# ## Queries, keys and values
#
# A database returns the value whose key equals the query. Attention is a soft database: it returns a mean of *all* values,
# weighted by how well each key matches the query.
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# The weights come from *scores* `a(q, k)`, one number for each query and key. Softmax turns the scores of a query into
# weights. If one score is far above the others, its weight is nearly 1, and the soft database acts like the exact one:

# %%
keys = np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]])  # (B, S, D): three keys
values = np.array([[[10.0], [20.0], [60.0]]])  # (B, S, Dv)
query = np.array([[[0.0, 1.0]]])  # (B, T, D): equal to the second key

attention = keras_attn.DotProductAttention(scale=False)
for factor in (1, 3, 10):
    output, weights = attention(factor * query, keys, values, return_attention_scores=True)
    print(
        f"query x {factor:2}: weights {convert_to_numpy(weights)[0, 0]}, output {convert_to_numpy(output)[0, 0]}"
    )

# %% [markdown]
# ## Nadaraya–Watson regression
#
# Kernel regression from 1964 is attention: the keys are the inputs of the training data, the values are the outputs, and a
# query is the input whose output we want. The score is the negative squared distance, divided by twice the squared
# *bandwidth* $h$:
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# `GaussianKernelAttention` is this layer. The data are 40 noisy points of a curve.

# %%
random = np.random.default_rng(3)


def true_curve(x):
    return 3 * np.sin(1.5 * x) * np.exp(-x / 4)


inputs = np.sort(random.uniform(0, 6, 40))
outputs = true_curve(inputs) + random.normal(scale=0.4, size=40)
places = np.linspace(0, 6, 60)  # the queries


def column(x):
    """A batch with one example of vectors of size 1, `(1, len(x), 1)`."""
    return x[None, :, None]


bandwidths = (0.05, 0.3, 2.0)
curves, maps = {}, {}
for bandwidth in bandwidths:
    kernel = keras_attn.GaussianKernelAttention(bandwidth)
    output, weights = kernel(
        column(places), column(inputs), column(outputs), return_attention_scores=True
    )
    curves[bandwidth] = convert_to_numpy(output)[0, :, 0]
    maps[bandwidth] = convert_to_numpy(weights)[0]

figure = Figure((7, 3.5), layout="constrained")
axes = figure.subplots()
axes.plot(places, true_curve(places), "k--", label="true curve")
axes.plot(inputs, outputs, "k.", alpha=0.5, label="training data")
for bandwidth, curve in curves.items():
    axes.plot(places, curve, label=f"h = {bandwidth}")
axes.set_xlabel("x")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ### The weights of the regression
#
# Rows are queries and columns are keys, both from left to right on the x-axis. A small bandwidth attends to the nearest
# point only and follows the noise. A large bandwidth attends to nearly all points and returns nearly their mean. In between,
# the weights form a band.

# %%
figure = Figure((9, 3), layout="constrained")
for axes, (bandwidth, weights) in zip(figure.subplots(1, 3), maps.items(), strict=True):
    image = axes.imshow(weights, "Reds", vmin=0, aspect="auto")
    axes.set_title(f"h = {bandwidth}, largest weight {weights.max():.2f}", fontsize=10)
    axes.set_xlabel("keys")
    figure.colorbar(image, ax=axes)
figure.axes[0].set_ylabel("queries")
figure

# %% [markdown]
# ### Exercise: learn the bandwidth
#
# Can we learn $h$ by minimising the error on the training data? Not directly. Each training input is also a key, so with
# $h \to 0$ each point attends to itself alone, and the error is 0. *Leaving one out* mends this: a mask hides each point
# from its own query. A mask is boolean, and True means "may attend".

# %%
others = ~np.eye(len(inputs), dtype=bool)[None]  # (1, T, S): all keys but the query itself


def error(bandwidth, mask=None):
    kernel = keras_attn.GaussianKernelAttention(bandwidth)
    found = kernel(column(inputs), column(inputs), column(outputs), attention_mask=mask)
    return float(np.mean((convert_to_numpy(found)[0, :, 0] - outputs) ** 2))


tried = np.geomspace(0.02, 3, 30)
with_itself = [error(h) for h in tried]
left_out = [error(h, others) for h in tried]
best = tried[np.argmin(left_out)]

figure = Figure((6, 3), layout="constrained")
axes = figure.subplots()
axes.semilogx(tried, with_itself, label="each point attends to itself")
axes.semilogx(tried, left_out, label="leave one out")
axes.axvline(best, color="grey", linestyle=":")
axes.set_xlabel("bandwidth h")
axes.set_ylabel("mean squared error")
axes.legend(frameon=False)
print(f"best bandwidth by leaving one out: {best:.2f}")
figure

# %% [markdown]
# ### Exercise: keys of length 1
#
# If all vectors have length 1, then $|q - k|^2 = 2 - 2 \, q \cdot k$. The 2 is the same for every key, and softmax ignores
# what all scores share. So a Gaussian kernel on the unit circle is dot-product attention, with $1/h^2$ as its scale:

# %%
angles = random.uniform(0, 2 * np.pi, (2, 1, 5))
on_circle = np.stack([np.cos(angles), np.sin(angles)], -1)  # two sets of 5 vectors of length 1
h = 0.7
_, gaussian = keras_attn.GaussianKernelAttention(h)(*on_circle, return_attention_scores=True)
_, product = keras_attn.DotProductAttention(scale=False)(
    on_circle[0] / h**2, on_circle[1], return_attention_scores=True
)
print(
    f"largest difference of the weights: {np.abs(convert_to_numpy(gaussian) - convert_to_numpy(product)).max():.1e}"
)

# %% [markdown]
# ## Masked softmax with its numbers
#
# Sentences in a batch have different lengths; the shorter ones are padded. No query may attend to padding. `masked_softmax`
# takes *valid lengths*: how many keys, counted from the first, may be attended.

# %%
scores = np.array([1.0, 2.0, 3.0, 4.0])
powers = np.exp(scores)
print("exp of the scores  ", powers)
print("softmax, 4 valid   ", powers / powers.sum())
print("softmax, 2 valid   ", powers[:2] / powers[:2].sum())
print()
batch = np.tile(scores, (3, 1, 1))  # (B, T, S): three examples with one query each
for length, row in zip(
    (4, 2, 0), convert_to_numpy(keras_attn.masked_softmax(batch, [4, 2, 0])), strict=True
):
    print(f"masked_softmax, {length} valid", row[0])

# %% [markdown]
# Two things to notice:
#
# - The weight of a hidden key is exactly 0, not "small". Padding cannot reach the output, even if it is NaN.
# - A query with no key left gets weights 0, not NaN. Many implementations return NaN or equal weights here.
#
# A valid length per query, of shape `(B, T)`, gives each query a limit of its own:

# %%
scores = random.normal(size=(2, 2, 4))
per_example = convert_to_numpy(keras_attn.masked_softmax(scores, np.array([2, 3])))
per_query = convert_to_numpy(keras_attn.masked_softmax(scores, np.array([[1, 3], [2, 4]])))
print("valid lengths [2, 3]")
print(per_example)
print("valid lengths [[1, 3], [2, 4]]")
print(per_query)

# %% [markdown]
# ## Scores one by one
#
# Three queries and five points of the plane as keys; the last key is padding. All layers have the same call, so they can be
# exchanged.
#
# | layer | score | weights to learn |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | none |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | none |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | $h$, if you want |
# | `BilinearAttention()` | $q^\top W k$ | $W$ |
# | `AdditiveAttention(num_hiddens)` | $w^\top \tanh(W_q q + W_k k)$ | $w, W_q, W_k$ |

# %%
named_queries = {"right": (1, 0), "up": (0, 1), "origin": (0, 0)}
named_keys = {
    "right": (1, 0),
    "far right": (3, 0),
    "up": (0, 1),
    "left": (-1, 0),
    "padding": (2, 2),
}
queries = np.array([list(named_queries.values())], "float32")
keys = np.array([list(named_keys.values())], "float32")

layers = {
    "dot product": keras_attn.DotProductAttention(scale=False),
    "scaled": keras_attn.DotProductAttention(),
    "Gaussian kernel": keras_attn.GaussianKernelAttention(),
    "bilinear": keras_attn.BilinearAttention(),
    "additive": keras_attn.AdditiveAttention(num_hiddens=8),
}
found = {}
for name, layer in layers.items():
    _, weights = layer(queries, keys, valid_lens=[4], return_attention_scores=True)
    found[name] = convert_to_numpy(weights)
    print(name)
    for query_name, row in zip(named_queries, found[name][0], strict=True):
        print(f"    {query_name:8}", row)

# %% [markdown]
# The dot product prefers the long key "far right"; the Gaussian kernel prefers the near key. The query "origin" has a score
# of 0 with every key, so the dot product gives it equal weights. The bilinear and additive layers have random weights until
# they are trained. Padding gets 0 everywhere.

# %%
plot_attention(found, list(named_queries), list(named_keys))

# %% [markdown]
# ### Exercise: change the keys of the toy example
#
# If all keys are the same, every score gives equal weights over the valid keys, whatever the query. With different keys the
# layers disagree, because each measures the match in its own way.

# %%
toy_queries = random.normal(size=(2, 1, 2))
toy_values = np.arange(40.0).reshape(1, 10, 4).repeat(2, axis=0)
toy_keys = {"equal keys": np.ones((2, 10, 2)), "different keys": random.normal(size=(2, 10, 2))}
toy_layers = {
    "additive": keras_attn.AdditiveAttention(num_hiddens=8),
    "dot product": keras_attn.DotProductAttention(),
}
toy_lengths = np.array([2, 6])
toy_weights = {}
for key_name, toy in toy_keys.items():
    for name, layer in toy_layers.items():
        _, weights = layer(toy_queries, toy, toy_values, toy_lengths, return_attention_scores=True)
        toy_weights[f"{name}, {key_name}"] = convert_to_numpy(weights)[
            :, 0
        ]  # rows: the two examples
plot_attention(toy_weights)

# %% [markdown]
# ### Exercise: sizes that differ, by matrix products alone
#
# A dot product needs a query and a key of the same size. A learned matrix $W$ of shape `(Dq, Dk)` between them lifts this
# limit and needs nothing but matrix products. `BilinearAttention` is this layer.

# %%
wide_queries, narrow_keys = random.normal(size=(2, 3, 20)), random.normal(size=(2, 10, 2))
layer = keras_attn.BilinearAttention()
output = layer(wide_queries, narrow_keys, toy_values, toy_lengths)
print("output", tuple(output.shape), " W", [tuple(weight.shape) for weight in layer.weights])

# %% [markdown]
# ### Exercise: sum of vectors against dot product
#
# Could the score be a sum, $w \cdot (q + k)$, in place of a product? Write it as $w \cdot q + w \cdot k$. The first part is
# the same for all keys of a query, and softmax ignores what all scores share. So every query gets the *same* weights: a sum
# cannot match queries with keys. Additive attention avoids this with a $\tanh$ between the sum and $w$.

# %%
w, many_queries, many_keys = (
    random.normal(size=4),
    random.normal(size=(3, 4)),
    random.normal(size=(5, 4)),
)
sums = (many_queries[:, None] + many_keys[None]) @ w  # (T, S)
products = many_queries @ many_keys.T
print("sum of vectors: a row for each query")
print(convert_to_numpy(keras_attn.masked_softmax(sums)))
print("dot product")
print(convert_to_numpy(keras_attn.masked_softmax(products)))

# %% [markdown]
# ## Why scores are divided by √d
#
# Let the numbers in $q$ and $k$ be independent, with mean 0 and variance 1. Then $q \cdot k$ is a sum of $d$ such products,
# and its variance is $d$. Wide vectors thus have large scores, and softmax of large scores is *saturated*: one weight is
# nearly 1, the others nearly 0, and the gradient vanishes. Divided by $\sqrt{d}$, the scores have variance 1 for every $d$.

# %%
sizes = 2 ** np.arange(1, 11)
table = []
for d in sizes:
    q, k = random.normal(size=(2000, 1, d)), random.normal(size=(2000, 16, d))
    row = [d]
    for scale in (1.0, d**-0.5):
        some = (q @ k.swapaxes(1, 2)) * scale  # (2000, 1, 16)
        p = convert_to_numpy(keras_attn.masked_softmax(some))
        slope = (p * (1 - p)).sum(-1).mean()  # of softmax: 0 where saturated
        row += [some.var(), p.max(-1).mean(), slope]
    table.append(row)
print("          q . k                      q . k / sqrt(d)")
print("   d  variance  largest   slope    variance  largest   slope")
for d, *row in table:
    print(f"{d:4}" + "{:10.1f}{:9.3f}{:8.3f}{:12.2f}{:9.3f}{:8.3f}".format(*row))

# %% [markdown]
# ### The saturated softmax, drawn
#
# With 16 keys, equal weights would be 0.06. Without the scale the largest weight grows to nearly 1 with $d$. With the scale
# it stays where it is.

# %%
_, variances, largest, slopes, _, scaled_largest, scaled_slopes = np.array(table).T
figure = Figure((9, 3), layout="constrained")
left, middle, right = figure.subplots(1, 3)
left.loglog(sizes, variances, "o-", label="measured")
left.loglog(sizes, sizes, "k--", label="d")
left.set_title("variance of q · k", fontsize=10)
middle.semilogx(sizes, largest, "o-", label="q · k")
middle.semilogx(sizes, scaled_largest, "o-", label="q · k / √d")
middle.set_title("largest of 16 weights", fontsize=10)
right.semilogx(sizes, slopes, "o-", label="q · k")
right.semilogx(sizes, scaled_slopes, "o-", label="q · k / √d")
right.set_title("slope of softmax", fontsize=10)
for axes in (left, middle, right):
    axes.set_xlabel("d")
    axes.legend(frameon=False)
figure

# %% [markdown]
# ### Exercise: the cost of a score
#
# Count multiplications for $T$ queries and $S$ keys of size $d$, and values of size $v$:
#
# | score | scores | sum of values | memory for the weights |
# |---|---|---|---|
# | dot product | $T S d$ | $T S v$ | $T S$ |
# | bilinear | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | Gaussian kernel | $T S d + (T + S) d$: $\lvert q \rvert^2 - 2 q \cdot k + \lvert k \rvert^2$ | $T S v$ | $T S$ |
# | additive | $T d_q n + S d_k n + T S n$, and $T S n$ times $\tanh$ | $T S v$ | $T S n$ |
#
# The dot product is one matrix product, which every processor computes fast. Additive attention with $n$ hidden units holds
# a tensor of $T S n$ numbers. This also answers the exercise on a distance that costs little: the squared length of the query
# is the same for all keys, so softmax needs only that of the keys.
#
# Next: [2 Self-attention and heads](2_self_attention.md).

# %% [markdown]
# # 4 Convolution, recurrence and self-attention
#
# This tutorial covers section 11.6.2 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html),
# in our own words and code. Three layers read a sequence of $n$ vectors of width $d$: a convolution with kernel size $k$, a
# recurrent layer, and self-attention. We compare what they cost, how many steps must wait for each other, and how far apart
# two positions are.

# %%
import time

import keras
import numpy as np
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
d, k = 64, 3


def make_layer(name):
    if name == "convolution":
        return keras.layers.Conv1D(d, k, padding="same")
    if name == "recurrence":
        return keras.layers.SimpleRNN(d, return_sequences=True)
    attention = (
        keras_attn.DotProductAttention()
    )  # projections would add operations of their own
    return keras.layers.Lambda(lambda x: attention(x, x))


names = ("convolution", "recurrence", "self-attention")

# %% [markdown]
# ## The three orders
#
# | layer | operations | sequential operations | longest path between two positions |
# |---|---|---|---|
# | convolution | $O(k n d^2)$ | $O(1)$ | $O(n/k)$ |
# | recurrence | $O(n d^2)$ | $O(n)$ | $O(n)$ |
# | self-attention | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
#
# - A convolution multiplies $k$ vectors by a $d \times d$ matrix at each of $n$ positions.
# - A recurrent layer multiplies its state by a $d \times d$ matrix, $n$ times, one after the other.
# - Self-attention compares $n$ queries with $n$ keys of width $d$, and sums $n$ values of width $d$.

# %%
figure = Figure((9, 2.6), layout="constrained")
for axes, name in zip(figure.subplots(1, 3), names, strict=True):
    for end in range(5):
        starts = {
            "convolution": (end - 1, end, end + 1),
            "recurrence": (end,),
        }.get(name, range(5))
        for start in starts:
            if 0 <= start < 5:
                axes.annotate(
                    "",
                    (end, 0.95),
                    (start, 0.05),
                    arrowprops={"arrowstyle": "->", "color": "grey"},
                )
        if name == "recurrence" and end:
            axes.annotate(
                "",
                (end - 0.08, 1),
                (end - 0.92, 1),
                arrowprops={"arrowstyle": "->", "color": "C3"},
            )
    axes.plot(range(5), [0] * 5, "o", color="C0", markersize=10)
    axes.plot(range(5), [1] * 5, "o", color="C1", markersize=10)
    axes.set_title(name, fontsize=10)
    axes.set_axis_off()
    axes.margins(0.15)
figure

# %% [markdown]
# ## Cost, measured
#
# Milliseconds of a forward pass for a batch of 8, each length the median of three turns on the machine that built this page. Dashed lines
# are the orders of growth, scaled to the time at the longest length. Below some length, the overhead of a call hides the order.

# %%
lengths = [16, 64, 256, 1024]


def seconds(name, length, batch=8, turns=3):
    inputs = keras.Input((length, d), batch_size=batch)
    model = keras.Model(inputs, make_layer(name)(inputs))
    x = random.normal(size=(batch, length, d)).astype("float32")
    model.predict_on_batch(x)  # compiles
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        model.predict_on_batch(x)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


measured = {
    name: [1000 * seconds(name, n) for n in lengths] for name in names
}
orders = {
    "convolution": [k * n * d**2 for n in lengths],
    "recurrence": [n * d**2 for n in lengths],
    "self-attention": [n**2 * d for n in lengths],
}
print("     n" + "".join(f"{name:>16}" for name in names))
for i, n in enumerate(lengths):
    print(
        f"{n:6}"
        + "".join(f"{measured[name][i]:13.1f} ms" for name in names)
    )

figure = Figure((6.5, 3.5), layout="constrained")
axes = figure.subplots()
for i, name in enumerate(names):
    scaled = np.array(orders[name]) * measured[name][-1] / orders[name][-1]
    axes.loglog(lengths, measured[name], f"C{i}o-", label=name)
    axes.loglog(lengths, scaled, f"C{i}--")
axes.set_xlabel("length n")
axes.set_ylabel("milliseconds")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# By the number of operations, self-attention is cheaper than recurrence up to $n = d$, and more expensive beyond.
# `examples/cost_of_layers.py` makes this comparison for up to 2,048 positions.
#
# ## Sequential operations, measured
#
# Here the number of tokens is always 4,096, only their arrangement changes: 256 short sequences or 4 long ones. Convolution and
# recurrence do the same work in all of them. But a recurrent layer does $n$ steps that wait for each other, so long sequences take
# more time than many short ones.

# %%
arrangements = [(256, 16), (64, 64), (16, 256), (4, 1024)]
print("batch x length" + "".join(f"{name:>16}" for name in names))
by_arrangement = {name: [] for name in names}
for batch, n in arrangements:
    for name in names:
        by_arrangement[name].append(1000 * seconds(name, n, batch))
    row = [by_arrangement[name][-1] for name in names]
    print(
        f"{batch:5} x {n:6}" + "".join(f"{value:13.1f} ms" for value in row)
    )

figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for name, values in by_arrangement.items():
    axes.loglog([n for _, n in arrangements], values, "o-", label=name)
axes.set_xlabel("length n of each sequence (4,096 tokens in all)")
axes.set_ylabel("milliseconds")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ## Path length, measured
#
# How many layers are needed until the last position can depend on the first? We change the first vector and look whether the last output
# changes. A recurrent layer needs one layer, but the signal passes through all $n$ states. Self-attention needs one layer and one step.


# %%
def layers_needed(name, length, most=20):
    x = random.normal(size=(1, length, d)).astype("float32")
    changed = x.copy()
    changed[0, 0] += 1
    for number in range(1, most + 1):
        layer = make_layer(name)
        x, changed = (convert_to_numpy(layer(y)) for y in (x, changed))
        if np.abs(x[0, -1] - changed[0, -1]).max() > 0:
            return number
    return None


print("     n     convolution  self-attention")
for n in (4, 8, 16):
    print(
        f"{n:6}{layers_needed('convolution', n):16}"
        f"{layers_needed('self-attention', n):16}"
    )

# %% [markdown]
# ### Which input reaches which output
#
# The change of each output position after a change of one input position, in one layer: a band for the convolution, a triangle that
# fades for recurrence, and everything at once for self-attention.

# %%
n = 16
figure = Figure((9, 3), layout="constrained")
for axes, name in zip(figure.subplots(1, 3), names, strict=True):
    layer = make_layer(name)
    x = 0.3 * random.normal(size=(1, n, d)).astype("float32")
    before = convert_to_numpy(layer(x))[0]
    reach = np.zeros((n, n))
    for position in range(n):
        changed = x.copy()
        changed[0, position] += 0.1
        after = convert_to_numpy(layer(changed))[0]
        reach[:, position] = np.abs(after - before).max(-1)
    reach = np.where(reach > 1e-7, reach / reach.max(), np.nan)
    axes.imshow(np.log10(reach), "Reds", vmin=-4, vmax=0)
    axes.set_title(name, fontsize=10)
    axes.set_xlabel("input position")
figure.axes[0].set_ylabel("output position")
figure

# %% [markdown]
# ### Exercise: very long sequences
#
# With $n^2$ weights for each head, length 16,384 needs 268 million of them. Three ways out:
#
# - Compute the same result block by block, without ever storing all weights: `MultiHeadAttention` does this by itself for long
#   sequences. Time still grows with $n^2$, memory with $n$.
# - Attend to a window: `MultiHeadAttention(..., window=128)` costs $O(n \cdot 128)$ in meaning, though not in time here.
# - Approximate the softmax, or combine recurrence with attention; surveys of "efficient Transformers" list dozens of ways.
#
# Next: [5 A Transformer from its parts](5_transformer.ipynb).

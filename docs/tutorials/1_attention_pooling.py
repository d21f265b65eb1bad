# %% [markdown]
# # 1 Attention pooling, scores and masks
#
# This tutorial covers sections 11.1 to 11.3 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), a textbook that many
# courses use. The words, the data and the code are our own. [Names](names.md) maps each name of the book to a name here.
#
# You need the layers and the plots: `pip install "keras_attn[plots]"`. Every cell also runs on JAX and PyTorch: set
# `KERAS_BACKEND` before Python starts.

# %% [markdown] lang="ja"
# # 1 アテンションプーリング、スコア、マスク
#
# このチュートリアルは、多くの授業で使われている教科書 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) の 11.1〜11.3 節に対応します。説明、データ、コードはすべて独自のものです。教科書の名前とここでの名前の対応は[名前の表](../names.md)（英語）にあります。
#
# 必要なのは層と図だけです: `pip install "keras_attn[plots]"`。どのセルも JAX と PyTorch で動きます。Python を起動する前に `KERAS_BACKEND` を設定してください。コードと出力は英語版と共通です。

# %% [markdown] lang="ko"
# # 1 어텐션 풀링, 점수, 마스크
#
# 이 튜토리얼은 많은 수업에서 쓰는 교과서 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)의 11.1~11.3절에 해당합니다. 설명과 데이터와 코드는 모두 따로 쓴 것입니다. 교과서의 이름과 여기의 이름은 [이름 표](../names.md)(영어)에 있습니다.
#
# 층과 그림만 있으면 됩니다: `pip install "keras_attn[plots]"`. 모든 셀은 JAX와 PyTorch에서도 실행됩니다. Python을 시작하기 전에 `KERAS_BACKEND`를 설정하세요. 코드와 출력은 영어판과 같습니다.

# %%
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

# %% [markdown] lang="ja"
# ## クエリ、キー、バリュー
#
# データベースは、クエリと等しいキーの値を返します。アテンションは「柔らかい」データベースです。*すべての*値の平均を返し、その重みは、キーがクエリにどれだけ合うかで決まります。
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# 重みは*スコア* `a(q, k)`、つまりクエリとキーの組ごとの数から求めます。ソフトマックスは、あるクエリのスコアを重みに変えます。一つのスコアだけが飛び抜けて大きければ、その重みはほぼ 1 になり、普通のデータベースと同じ動作になります。

# %% [markdown] lang="ko"
# ## 쿼리, 키, 값
#
# 데이터베이스는 쿼리와 같은 키의 값을 돌려줍니다. 어텐션은 부드러운 데이터베이스입니다. *모든* 값의 평균을 돌려주며, 가중치는 각 키가 쿼리와 얼마나 잘 맞는지로 정해집니다.
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# 가중치는 *점수* `a(q, k)`, 곧 쿼리와 키의 쌍마다 하나인 수에서 나옵니다. 소프트맥스는 한 쿼리의 점수를 가중치로 바꿉니다. 점수 하나가 다른 것보다 훨씬 크면 그 가중치는 거의 1이 되고, 보통의 데이터베이스처럼 움직입니다.

# %%
keys = np.array(
    [[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]]
)  # (B, S, D): three keys
values = np.array([[[10.0], [20.0], [60.0]]])  # (B, S, Dv)
query = np.array([[[0.0, 1.0]]])  # (B, T, D): equal to the second key

attention = keras_attn.DotProductAttention(scale=False)
for factor in (1, 3, 10):
    output, weights = attention(
        factor * query, keys, values, return_attention_scores=True
    )
    print(
        f"query x {factor:2}: weights {convert_to_numpy(weights)[0, 0]},",
        f"output {convert_to_numpy(output)[0, 0]}",
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

# %% [markdown] lang="ja"
# ## Nadaraya–Watson 回帰
#
# 1964 年のカーネル回帰はアテンションそのものです。キーは学習データの入力、バリューはその出力、クエリは出力を知りたい入力です。スコアは、距離の 2 乗に負号を付け、*バンド幅* $h$ の 2 乗の 2 倍で割ったものです。
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# `GaussianKernelAttention` がこの層です。データは、曲線に雑音を加えた 40 点です。

# %% [markdown] lang="ko"
# ## Nadaraya–Watson 회귀
#
# 1964년의 커널 회귀가 바로 어텐션입니다. 키는 학습 데이터의 입력, 값은 그 출력, 쿼리는 출력을 알고 싶은 입력입니다. 점수는 거리의 제곱에 음의 부호를 붙이고 *대역폭* $h$의 제곱의 두 배로 나눈 것입니다.
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# `GaussianKernelAttention`이 이 층입니다. 데이터는 곡선에 잡음을 더한 점 40개입니다.

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
        column(places),
        column(inputs),
        column(outputs),
        return_attention_scores=True,
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

# %% [markdown] lang="ja"
# ### 回帰の重み
#
# 行がクエリ、列がキーで、どちらも x の小さい順に並んでいます。バンド幅が小さいと最も近い点だけに注意が向き、曲線は雑音をなぞります。大きいとほぼすべての点に注意が向き、ほぼ平均値になります。その間では、重みは帯の形になります。

# %% [markdown] lang="ko"
# ### 회귀의 가중치
#
# 행은 쿼리, 열은 키이며 둘 다 x가 작은 것부터 놓여 있습니다. 대역폭이 작으면 가장 가까운 점에만 주의를 두어 잡음을 따라갑니다. 크면 거의 모든 점에 주의를 두어 평균에 가까운 값이 됩니다. 그 사이에서는 가중치가 띠 모양이 됩니다.

# %%
figure = Figure((9, 3), layout="constrained")
for axes, (bandwidth, weights) in zip(
    figure.subplots(1, 3), maps.items(), strict=True
):
    image = axes.imshow(weights, "Reds", vmin=0, aspect="auto")
    axes.set_title(
        f"h = {bandwidth}, largest weight {weights.max():.2f}", fontsize=10
    )
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

# %% [markdown] lang="ja"
# ### 演習: バンド幅を学習する
#
# 学習データの誤差を最小にすれば $h$ を学習できるでしょうか。そのままではできません。学習データの各入力はキーでもあるため、$h \to 0$ とすると、どの点も自分自身だけに注意を向け、誤差は 0 になります。*一つ抜き法*（leave one out）で解決します。マスクで、各点を自分のクエリから隠します。マスクは真偽値で、True は「注意を向けてよい」という意味です。

# %% [markdown] lang="ko"
# ### 연습: 대역폭 학습하기
#
# 학습 데이터의 오차를 줄여서 $h$를 학습할 수 있을까요? 그대로는 안 됩니다. 학습 데이터의 입력은 모두 키이기도 하므로, $h \to 0$이면 각 점이 자신에게만 주의를 두고 오차는 0이 됩니다. *하나 빼기*(leave one out)로 해결합니다. 마스크로 각 점을 자기 쿼리에서 가립니다. 마스크는 불리언이며 True는 "주의를 두어도 된다"는 뜻입니다.

# %%
others = ~np.eye(len(inputs), dtype=bool)[
    None
]  # (1, T, S): all keys but the query itself


def error(bandwidth, mask=None):
    kernel = keras_attn.GaussianKernelAttention(bandwidth)
    found = kernel(
        column(inputs), column(inputs), column(outputs), attention_mask=mask
    )
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

# %% [markdown] lang="ja"
# ### 演習: 長さ 1 のキー
#
# すべてのベクトルの長さが 1 なら、$|q - k|^2 = 2 - 2 \, q \cdot k$ です。2 はどのキーでも同じで、ソフトマックスは全スコアに共通の値を無視します。つまり単位円上のガウスカーネルは、$1/h^2$ を係数とする内積アテンションです。

# %% [markdown] lang="ko"
# ### 연습: 길이가 1인 키
#
# 모든 벡터의 길이가 1이면 $|q - k|^2 = 2 - 2 \, q \cdot k$입니다. 2는 모든 키에서 같고, 소프트맥스는 모든 점수에 공통인 값을 무시합니다. 그래서 단위원 위의 가우스 커널은 $1/h^2$를 곱한 내적 어텐션입니다.

# %%
angles = random.uniform(0, 2 * np.pi, (2, 1, 5))
on_circle = np.stack(
    [np.cos(angles), np.sin(angles)], -1
)  # two sets of 5 vectors of length 1
h = 0.7
_, gaussian = keras_attn.GaussianKernelAttention(h)(
    *on_circle, return_attention_scores=True
)
_, product = keras_attn.DotProductAttention(scale=False)(
    on_circle[0] / h**2, on_circle[1], return_attention_scores=True
)
difference = convert_to_numpy(gaussian) - convert_to_numpy(product)
print(f"largest difference of the weights: {np.abs(difference).max():.1e}")

# %% [markdown]
# ## Masked softmax with its numbers
#
# Sentences in a batch have different lengths; the shorter ones are padded. No query may attend to padding. `masked_softmax`
# takes *valid lengths*: how many keys, counted from the first, may be attended.

# %% [markdown] lang="ja"
# ## マスク付きソフトマックスを数で見る
#
# バッチの中の文は長さが違い、短い文はパディングで埋められます。パディングには注意を向けてはいけません。`masked_softmax` は*有効長*、つまり先頭から何個のキーに注意を向けてよいかを受け取ります。

# %% [markdown] lang="ko"
# ## 숫자로 보는 마스크드 소프트맥스
#
# 배치 안의 문장은 길이가 다르고, 짧은 문장은 패딩으로 채웁니다. 패딩에는 주의를 두면 안 됩니다. `masked_softmax`는 *유효 길이*, 곧 처음부터 몇 개의 키에 주의를 두어도 되는지를 받습니다.

# %%
scores = np.array([1.0, 2.0, 3.0, 4.0])
powers = np.exp(scores)
print("exp of the scores  ", powers)
print("softmax, 4 valid   ", powers / powers.sum())
print("softmax, 2 valid   ", powers[:2] / powers[:2].sum())
print()
batch = np.tile(
    scores, (3, 1, 1)
)  # (B, T, S): three examples with one query each
for length, row in zip(
    (4, 2, 0),
    convert_to_numpy(keras_attn.masked_softmax(batch, [4, 2, 0])),
    strict=True,
):
    print(f"masked_softmax, {length} valid", row[0])

# %% [markdown]
# Two things to notice:
#
# - The weight of a hidden key is exactly 0, not "small". Padding cannot reach the output, even if it is NaN.
# - A query with no key left gets weights 0, not NaN. Many implementations return NaN or equal weights here.
#
# A valid length per query, of shape `(B, T)`, gives each query a limit of its own:

# %% [markdown] lang="ja"
# 注目する点が二つあります。
#
# - 隠されたキーの重みは「小さい」のではなく、正確に 0 です。パディングが NaN であっても、出力には届きません。
# - キーが一つも残らないクエリの重みは、NaN ではなく 0 です。多くの実装は、ここで NaN か等しい重みを返します。
#
# 形 `(B, T)` の有効長を渡すと、クエリごとに上限を変えられます。

# %% [markdown] lang="ko"
# 눈여겨볼 점이 두 가지 있습니다.
#
# - 가려진 키의 가중치는 "작은" 것이 아니라 정확히 0입니다. 패딩이 NaN이라도 출력에 닿지 않습니다.
# - 키가 하나도 남지 않은 쿼리의 가중치는 NaN이 아니라 0입니다. 많은 구현은 여기서 NaN이나 똑같은 가중치를 돌려줍니다.
#
# 모양이 `(B, T)`인 유효 길이를 주면 쿼리마다 한계를 다르게 할 수 있습니다.

# %%
scores = random.normal(size=(2, 2, 4))
per_example = convert_to_numpy(
    keras_attn.masked_softmax(scores, np.array([2, 3]))
)
per_query = convert_to_numpy(
    keras_attn.masked_softmax(scores, np.array([[1, 3], [2, 4]]))
)
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

# %% [markdown] lang="ja"
# ## スコアを一つずつ
#
# 三つのクエリと、キーとして平面上の五つの点を使います。最後のキーはパディングです。どの層も呼び方が同じなので、取り替えられます。
#
# | 層 | スコア | 学習する重み |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | なし |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | なし |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | 望むなら $h$ |
# | `BilinearAttention()` | $q^\top W k$ | $W$ |
# | `AdditiveAttention(num_hiddens)` | $w^\top \tanh(W_q q + W_k k)$ | $w, W_q, W_k$ |

# %% [markdown] lang="ko"
# ## 점수를 하나씩
#
# 쿼리 세 개와, 키로 쓸 평면의 점 다섯 개가 있습니다. 마지막 키는 패딩입니다. 모든 층은 같은 방법으로 부르므로 서로 바꿀 수 있습니다.
#
# | 층 | 점수 | 학습하는 가중치 |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | 없음 |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | 없음 |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | 원하면 $h$ |
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
    _, weights = layer(
        queries, keys, valid_lens=[4], return_attention_scores=True
    )
    found[name] = convert_to_numpy(weights)
    print(name)
    for query_name, row in zip(named_queries, found[name][0], strict=True):
        print(f"    {query_name:8}", row)

# %% [markdown]
# The dot product prefers the long key "far right"; the Gaussian kernel prefers the near key. The query "origin" has a score
# of 0 with every key, so the dot product gives it equal weights. The bilinear and additive layers have random weights until
# they are trained. Padding gets 0 everywhere.

# %% [markdown] lang="ja"
# 内積は長いキー "far right" を、ガウスカーネルは近いキーを好みます。クエリ "origin" はどのキーとも内積が 0 なので、重みは等しくなります。双線形と加法の層の重みは、学習するまで乱数です。パディングの重みはどこでも 0 です。

# %% [markdown] lang="ko"
# 내적은 긴 키 "far right"를, 가우스 커널은 가까운 키를 좋아합니다. 쿼리 "origin"은 모든 키와 내적이 0이므로 가중치가 모두 같습니다. 쌍선형 층과 덧셈 층의 가중치는 학습하기 전까지 난수입니다. 패딩의 가중치는 어디서나 0입니다.

# %%
plot_attention(found, list(named_queries), list(named_keys))

# %% [markdown]
# ### Exercise: change the keys of the toy example
#
# If all keys are the same, every score gives equal weights over the valid keys, whatever the query. With different keys the
# layers disagree, because each measures the match in its own way.

# %% [markdown] lang="ja"
# ### 演習: 例のキーを変える
#
# キーがすべて同じなら、どのスコアでも、クエリが何であっても、有効なキーの重みは等しくなります。キーが違えば、層ごとに合い方の測り方が違うため、結果も違います。

# %% [markdown] lang="ko"
# ### 연습: 예제의 키 바꾸기
#
# 키가 모두 같으면 어떤 점수든, 쿼리가 무엇이든, 유효한 키의 가중치는 모두 같습니다. 키가 다르면 층마다 재는 방법이 다르므로 결과도 다릅니다.

# %%
toy_queries = random.normal(size=(2, 1, 2))
toy_values = np.arange(40.0).reshape(1, 10, 4).repeat(2, axis=0)
toy_keys = {
    "equal keys": np.ones((2, 10, 2)),
    "different keys": random.normal(size=(2, 10, 2)),
}
toy_layers = {
    "additive": keras_attn.AdditiveAttention(num_hiddens=8),
    "dot product": keras_attn.DotProductAttention(),
}
toy_lengths = np.array([2, 6])
toy_weights = {}
for key_name, toy in toy_keys.items():
    for name, layer in toy_layers.items():
        _, weights = layer(
            toy_queries,
            toy,
            toy_values,
            toy_lengths,
            return_attention_scores=True,
        )
        toy_weights[f"{name}, {key_name}"] = convert_to_numpy(weights)[
            :, 0
        ]  # rows: the two examples
plot_attention(toy_weights)

# %% [markdown]
# ### Exercise: sizes that differ, by matrix products alone
#
# A dot product needs a query and a key of the same size. A learned matrix $W$ of shape `(Dq, Dk)` between them lifts this
# limit and needs nothing but matrix products. `BilinearAttention` is this layer.

# %% [markdown] lang="ja"
# ### 演習: 大きさの違うクエリとキーを、行列積だけで
#
# 内積にはクエリとキーの大きさが同じである必要があります。間に形 `(Dq, Dk)` の行列 $W$ を置いて学習すれば、この制限はなくなり、行列積しか要りません。`BilinearAttention` がこの層です。

# %% [markdown] lang="ko"
# ### 연습: 크기가 다른 쿼리와 키, 행렬 곱만으로
#
# 내적을 하려면 쿼리와 키의 크기가 같아야 합니다. 그 사이에 모양이 `(Dq, Dk)`인 행렬 $W$를 두고 학습하면 이 제한이 없어지고, 행렬 곱만 있으면 됩니다. `BilinearAttention`이 이 층입니다.

# %%
wide_queries, narrow_keys = (
    random.normal(size=(2, 3, 20)),
    random.normal(size=(2, 10, 2)),
)
layer = keras_attn.BilinearAttention()
output = layer(wide_queries, narrow_keys, toy_values, toy_lengths)
print(
    "output",
    tuple(output.shape),
    " W",
    [tuple(weight.shape) for weight in layer.weights],
)

# %% [markdown]
# ### Exercise: sum of vectors against dot product
#
# Could the score be a sum, $w \cdot (q + k)$, in place of a product? Write it as $w \cdot q + w \cdot k$. The first part is
# the same for all keys of a query, and softmax ignores what all scores share. So every query gets the *same* weights: a sum
# cannot match queries with keys. Additive attention avoids this with a $\tanh$ between the sum and $w$.

# %% [markdown] lang="ja"
# ### 演習: ベクトルの和と内積
#
# 積の代わりに和 $w \cdot (q + k)$ をスコアにできるでしょうか。$w \cdot q + w \cdot k$ と書くと、最初の項は一つのクエリのすべてのキーで同じで、ソフトマックスはそれを無視します。だからどのクエリの重みも*同じ*になります。和ではクエリとキーを照合できません。加法アテンションは、和と $w$ の間に $\tanh$ を置いてこれを避けます。

# %% [markdown] lang="ko"
# ### 연습: 벡터의 합과 내적
#
# 곱 대신 합 $w \cdot (q + k)$를 점수로 쓸 수 있을까요? $w \cdot q + w \cdot k$로 쓰면 앞의 항은 한 쿼리의 모든 키에서 같고, 소프트맥스는 그것을 무시합니다. 그래서 모든 쿼리의 가중치가 *똑같아집니다*. 합으로는 쿼리와 키를 맞춰 볼 수 없습니다. 덧셈 어텐션은 합과 $w$ 사이에 $\tanh$를 두어 이 문제를 피합니다.

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

# %% [markdown] lang="ja"
# ## なぜ √d で割るのか
#
# $q$ と $k$ の成分が独立で、平均 0、分散 1 だとします。$q \cdot k$ はそのような積の $d$ 個の和なので、分散は $d$ です。つまり幅の広いベクトルではスコアが大きくなり、ソフトマックスは*飽和*します。一つの重みがほぼ 1、他がほぼ 0 になり、勾配が消えます。$\sqrt{d}$ で割れば、どの $d$ でもスコアの分散は 1 です。

# %% [markdown] lang="ko"
# ## 왜 √d로 나누는가
#
# $q$와 $k$의 성분이 독립이고 평균이 0, 분산이 1이라고 합시다. $q \cdot k$는 그런 곱 $d$개의 합이므로 분산은 $d$입니다. 그래서 폭이 넓은 벡터는 점수가 커지고, 소프트맥스는 *포화*됩니다. 가중치 하나가 거의 1, 나머지는 거의 0이 되어 기울기가 사라집니다. $\sqrt{d}$로 나누면 어떤 $d$에서도 점수의 분산이 1입니다.

# %%
sizes = 2 ** np.arange(1, 11)
table = []
for d in sizes:
    q, k = (
        random.normal(size=(2000, 1, d)),
        random.normal(size=(2000, 16, d)),
    )
    row = [d]
    for scale in (1.0, d**-0.5):
        some = (q @ k.swapaxes(1, 2)) * scale  # (2000, 1, 16)
        p = convert_to_numpy(keras_attn.masked_softmax(some))
        slope = (
            (p * (1 - p)).sum(-1).mean()
        )  # of softmax: 0 where saturated
        row += [some.var(), p.max(-1).mean(), slope]
    table.append(row)
print("          q . k                      q . k / sqrt(d)")
print("   d  variance  largest   slope    variance  largest   slope")
for d, *row in table:
    print(
        f"{d:4}"
        + "{:10.1f}{:9.3f}{:8.3f}{:12.2f}{:9.3f}{:8.3f}".format(*row)
    )

# %% [markdown]
# ### The saturated softmax, drawn
#
# With 16 keys, equal weights would be 0.06. Without the scale the largest weight grows to nearly 1 with $d$. With the scale
# it stays where it is.

# %% [markdown] lang="ja"
# ### 飽和したソフトマックスの図
#
# キーが 16 個なら、等しい重みは 0.06 です。割らないと、最大の重みは $d$ とともにほぼ 1 まで大きくなります。割れば変わりません。

# %% [markdown] lang="ko"
# ### 포화된 소프트맥스의 그림
#
# 키가 16개일 때 똑같은 가중치는 0.06입니다. 나누지 않으면 가장 큰 가중치는 $d$와 함께 거의 1까지 커집니다. 나누면 변하지 않습니다.

# %%
_, variances, largest, slopes, _, scaled_largest, scaled_slopes = np.array(
    table
).T
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
# Next: [2 Self-attention and heads](2_self_attention.ipynb).

# %% [markdown] lang="ja"
# ### 演習: スコアの計算量
#
# 大きさ $d$ のクエリ $T$ 個とキー $S$ 個、大きさ $v$ のバリューについて、乗算の回数を数えます。
#
# | スコア | スコアの計算 | バリューの和 | 重みのメモリ |
# |---|---|---|---|
# | 内積 | $T S d$ | $T S v$ | $T S$ |
# | 双線形 | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | ガウスカーネル | $T S d + (T + S) d$: $\lvert q \rvert^2 - 2 q \cdot k + \lvert k \rvert^2$ | $T S v$ | $T S$ |
# | 加法 | $T d_q n + S d_k n + T S n$ と、$T S n$ 回の $\tanh$ | $T S v$ | $T S n$ |
#
# 内積は一つの行列積で、どのプロセッサでも速く計算できます。隠れユニットが $n$ 個の加法アテンションは、$T S n$ 個の数を持つテンソルを必要とします。少ない計算で距離を使うという演習の答えもここにあります。クエリの長さの 2 乗はすべてのキーで同じなので、ソフトマックスにはキーの長さの 2 乗だけがあれば足ります。
#
# 次: [2 自己注意とヘッド](2_self_attention.ipynb)

# %% [markdown] lang="ko"
# ### 연습: 점수의 계산량
#
# 크기가 $d$인 쿼리 $T$개와 키 $S$개, 크기가 $v$인 값에 대해 곱셈 횟수를 셉니다.
#
# | 점수 | 점수 계산 | 값의 합 | 가중치의 메모리 |
# |---|---|---|---|
# | 내적 | $T S d$ | $T S v$ | $T S$ |
# | 쌍선형 | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | 가우스 커널 | $T S d + (T + S) d$: $\lvert q \rvert^2 - 2 q \cdot k + \lvert k \rvert^2$ | $T S v$ | $T S$ |
# | 덧셈 | $T d_q n + S d_k n + T S n$, 그리고 $\tanh$ $T S n$번 | $T S v$ | $T S n$ |
#
# 내적은 행렬 곱 하나이므로 어떤 프로세서에서도 빠릅니다. 은닉 유닛이 $n$개인 덧셈 어텐션은 수가 $T S n$개인 텐서를 가져야 합니다. 계산이 적게 드는 거리에 관한 연습의 답도 여기에 있습니다. 쿼리 길이의 제곱은 모든 키에서 같으므로, 소프트맥스에는 키 길이의 제곱만 있으면 됩니다.
#
# 다음: [2 셀프 어텐션과 헤드](2_self_attention.ipynb)

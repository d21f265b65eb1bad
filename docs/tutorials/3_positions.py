# %% [markdown]
# # 3 Positions
#
# This tutorial covers section 11.6.3 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html),
# in our own words and code, and goes on to learned and relative positions. Attention alone ignores the order of its input;
# tutorial [2](2_self_attention.ipynb) showed it with one word at two positions.

# %% [markdown] lang="ja"
# # 3 位置
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html) の 11.6.3 節に対応し、さらに学習する位置と相対位置へ進みます。説明とコードは独自のものです。アテンションだけでは入力の順序は無視されます。[チュートリアル 2](2_self_attention.ipynb) では、二つの位置にある同じ単語でそれを見ました。

# %% [markdown] lang="ko"
# # 3 위치
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html)의 11.6.3절에 해당하며, 학습하는 위치와 상대 위치까지 다룹니다. 설명과 코드는 따로 쓴 것입니다. 어텐션만으로는 입력의 순서가 무시됩니다. [튜토리얼 2](2_self_attention.ipynb)에서 두 위치에 있는 같은 단어로 확인했습니다.

# %%
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

# %% [markdown] lang="ja"
# ## 正弦と余弦
#
# Vaswani らのエンコーディングは、各位置 $t$ に $D$ 個の数のベクトルを与え、入力に加えます。
#
# $$P_{t,\,2j} = \sin\frac{t}{10000^{2j/D}}, \qquad P_{t,\,2j+1} = \cos\frac{t}{10000^{2j/D}}$$
#
# この層は、幅を入力から読み取ります。最初の引数は教科書のような幅ではなく `max_len` です。教科書の `PositionalEncoding(32, 0)` は、ここでは `PositionalEncoding()` です。

# %% [markdown] lang="ko"
# ## 사인과 코사인
#
# Vaswani 등의 인코딩은 각 위치 $t$에 수 $D$개로 된 벡터를 주고 입력에 더합니다.
#
# $$P_{t,\,2j} = \sin\frac{t}{10000^{2j/D}}, \qquad P_{t,\,2j+1} = \cos\frac{t}{10000^{2j/D}}$$
#
# 이 층은 폭을 입력에서 읽습니다. 첫 번째 인수는 교과서처럼 폭이 아니라 `max_len`입니다. 교과서의 `PositionalEncoding(32, 0)`은 여기서 `PositionalEncoding()`입니다.

# %%
zeros = np.zeros((1, 60, 32))  # (B, T, D)
encoding = convert_to_numpy(keras_attn.PositionalEncoding()(zeros))[0]
print(encoding.shape)
print(encoding[:3, :6])

# %% [markdown]
# ## Curves
#
# Columns 6 and 7 are the sine and the cosine of one rate, columns 8 and 9 those of a slower rate.

# %% [markdown] lang="ja"
# ## 曲線
#
# 列 6 と 7 は同じ速さの正弦と余弦、列 8 と 9 はもっと遅い正弦と余弦です。

# %% [markdown] lang="ko"
# ## 곡선
#
# 열 6과 7은 같은 빠르기의 사인과 코사인이고, 열 8과 9는 더 느린 사인과 코사인입니다.

# %%
plots.plot_encoding_curves(encoding, range(6, 10))

# %% [markdown]
# ## Heat map
#
# All columns: the left ones change fast with the position, the right ones slowly.

# %% [markdown] lang="ja"
# ## ヒートマップ
#
# すべての列です。左の列は位置とともに速く変わり、右の列はゆっくり変わります。

# %% [markdown] lang="ko"
# ## 히트맵
#
# 모든 열입니다. 왼쪽 열은 위치에 따라 빠르게 변하고, 오른쪽 열은 천천히 변합니다.

# %%
plots.plot_encoding(encoding)

# %% [markdown]
# ## Binary counting
#
# Binary numbers work the same way: the lowest bit changes with every number, the next with every second one, and so on. Sines
# and cosines do this with continuous numbers.

# %% [markdown] lang="ja"
# ## 2 進数
#
# 2 進数も同じ仕組みです。最下位のビットは数ごとに、次のビットは二つごとに変わります。正弦と余弦は、これを連続した数で行います。

# %% [markdown] lang="ko"
# ## 이진수 세기
#
# 이진수도 같은 방식입니다. 가장 낮은 비트는 수마다, 그다음 비트는 두 수마다 바뀝니다. 사인과 코사인은 이것을 연속된 수로 합니다.

# %%
for number in range(8):
    print(f"{number} in binary is {number:03b}")
plots.plot_binary_counting(num_bits=3, encoding=encoding)

# %% [markdown]
# ## Similarity of positions
#
# The cosine similarity of two encodings depends on their distance alone: each diagonal has one colour. Near positions are
# similar.
#
# <!-- live: positions -->

# %% [markdown] lang="ja"
# ## 位置の類似度
#
# 二つのエンコーディングのコサイン類似度は、距離だけで決まります。どの対角線も一色です。近い位置は似ています。
#
# <!-- live: positions -->

# %% [markdown] lang="ko"
# ## 위치의 유사도
#
# 두 인코딩의 코사인 유사도는 거리만으로 정해집니다. 대각선마다 색이 하나입니다. 가까운 위치는 서로 비슷합니다.
#
# <!-- live: positions -->

# %%
plots.plot_position_similarity(encoding)

# %% [markdown]
# ## The rotation matrix of an offset
#
# A step of $\delta$ positions turns each pair of columns by an angle of $\delta r_j$, with $r_j = 10000^{-2j/D}$. The matrix
# is the same for every position, so a layer can learn to attend "three tokens back":
#
# $$\begin{pmatrix} \cos \delta r_j & \sin \delta r_j \\ -\sin \delta r_j & \cos \delta r_j \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix} = \begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix}$$

# %% [markdown] lang="ja"
# ## ずれの回転行列
#
# 位置が $\delta$ だけ進むと、列の組は角度 $\delta r_j$ だけ回転します。ただし $r_j = 10000^{-2j/D}$ です。この行列はどの位置でも同じなので、層は「三つ前のトークン」に注意を向けることを学習できます。
#
# $$\begin{pmatrix} \cos \delta r_j & \sin \delta r_j \\ -\sin \delta r_j & \cos \delta r_j \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix} = \begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix}$$

# %% [markdown] lang="ko"
# ## 간격의 회전 행렬
#
# 위치가 $\delta$만큼 나아가면 열의 쌍은 각도 $\delta r_j$만큼 돕니다. $r_j = 10000^{-2j/D}$입니다. 이 행렬은 모든 위치에서 같으므로, 레이어는 "세 토큰 앞"에 주의를 기울이는 것을 배울 수 있습니다.
#
# $$\begin{pmatrix} \cos \delta r_j & \sin \delta r_j \\ -\sin \delta r_j & \cos \delta r_j \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix} = \begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix}$$

# %%
j, offset = 4, 3
angle = offset * 10000 ** (-2 * j / 32)
rotation = np.array(
    [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
)
print(f"rotation of columns {2 * j} and {2 * j + 1} for {offset} positions")
print(rotation)
pair = encoding[:, 2 * j : 2 * j + 2]
turned = pair[:-offset] @ rotation.T
difference = np.abs(turned - pair[offset:]).max()
print(f"largest difference to row t + {offset}: {difference:.0e}")

# %% [markdown]
# ### The rotation, drawn
#
# The pair of columns moves on a circle. From each of four positions, the arrow leads three positions on; all arrows turn by
# the same angle.

# %% [markdown] lang="ja"
# ### 回転の図
#
# 列の組は円の上を動きます。四つの位置から、三つ先の位置へ矢印を引きました。どの矢印も同じ角度だけ回ります。

# %% [markdown] lang="ko"
# ### 회전의 그림
#
# 열의 쌍은 원 위를 움직입니다. 네 위치에서 세 칸 뒤의 위치로 화살표를 그렸습니다. 모든 화살표는 같은 각도만큼 돕니다.

# %%
figure = Figure((4, 4), layout="constrained")
axes = figure.subplots()
axes.plot(pair[:, 0], pair[:, 1], ".", color="lightgrey")
for t in (0, 8, 16, 24):
    axes.annotate(
        "",
        pair[t + offset],
        pair[t],
        arrowprops={"arrowstyle": "->", "color": "C3"},
    )
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

# %% [markdown] lang="ja"
# ## 学習するエンコーディングは外挿できない
#
# `LearnedPositionalEncoding` は、位置ごとに 1 行の表を持ち、他の重みと同じように学習します。学習中に一度も使われなかった行は、最初の乱数のままです。課題は、トークン 1 が系列の前半にあるか後半にあるかを当てることです。32 行の表の位置 0〜15 で学習し、位置 16〜31 で試します。

# %% [markdown] lang="ko"
# ## 학습하는 인코딩은 외삽하지 못한다
#
# `LearnedPositionalEncoding`은 위치마다 한 행인 표를 가지고, 다른 가중치처럼 학습합니다. 학습에서 한 번도 쓰이지 않은 행은 처음의 난수 그대로입니다. 과제는 토큰 1이 시퀀스의 앞 절반에 있는지 뒤 절반에 있는지 맞히는 것입니다. 32행인 표의 위치 0~15에서 학습하고 위치 16~31에서 시험합니다.


# %%
def examples(number, start, random):
    """Sequences of 16 tokens, one 1 among 2s, and its half."""
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
    keras.optimizers.Adam(1e-2),
    keras.losses.SparseCategoricalCrossentropy(from_logits=True),
)
learned.fit(ids, halves, epochs=12, batch_size=64, verbose=0)
for start in (0, 16):
    answers = convert_to_numpy(learned(test_ids, start=start)).argmax(-1)
    print(
        f"positions {start} to {start + 15}:",
        f"{np.mean(answers == test_halves):.0%} right",
    )

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

# %% [markdown] lang="ja"
# 表の終わりを越えると行そのものがなく、層がエラーで知らせます。

# %% [markdown] lang="ko"
# 표의 끝을 넘으면 행이 아예 없으며, 층이 오류로 알려 줍니다.

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

# %% [markdown] lang="ja"
# ## 相対位置の方式
#
# 大事なのは位置よりも距離であることが多いものです。四つの方式は、アテンションの中のスコアを変えます。`MultiHeadAttention(..., position=...)` に渡します。
#
# | 方式 | クエリ $t$ とキー $s$ のスコア | 学習するもの |
# |---|---|---|
# | `ShawRelativePosition(max_distance)` | $q_t \cdot (k_s + a_{s-t}) / \sqrt{K}$、バリューは $v_s + b_{s-t}$ | 最大の距離まで、距離ごとのベクトル $a$、$b$ |
# | `T5RelativeBias()` | $q_t \cdot k_s / \sqrt{K} + b_{\mathrm{bucket}(s-t)}$ | ヘッドと距離の範囲ごとに一つの数 |
# | `AlibiBias()` | $q_t \cdot k_s / \sqrt{K} - m \lvert t - s \rvert$ | なし |
# | `RotaryEmbedding()` | 回転 $R$ による $R_t q_t \cdot R_s k_s / \sqrt{K}$ | なし |
#
# 下のトークンはすべて同じなので、重みの違いはすべて位置から来ています。

# %% [markdown] lang="ko"
# ## 상대 위치 방식
#
# 중요한 것은 위치보다 거리인 때가 많습니다. 네 방식은 어텐션 안의 점수를 바꿉니다. `MultiHeadAttention(..., position=...)`에 넘깁니다.
#
# | 방식 | 쿼리 $t$와 키 $s$의 점수 | 학습하는 것 |
# |---|---|---|
# | `ShawRelativePosition(max_distance)` | $q_t \cdot (k_s + a_{s-t}) / \sqrt{K}$, 값은 $v_s + b_{s-t}$ | 가장 먼 거리까지 거리마다 벡터 $a$, $b$ |
# | `T5RelativeBias()` | $q_t \cdot k_s / \sqrt{K} + b_{\mathrm{bucket}(s-t)}$ | 헤드와 거리 범위마다 수 하나 |
# | `AlibiBias()` | $q_t \cdot k_s / \sqrt{K} - m \lvert t - s \rvert$ | 없음 |
# | `RotaryEmbedding()` | 회전 $R$에 의한 $R_t q_t \cdot R_s k_s / \sqrt{K}$ | 없음 |
#
# 아래의 토큰은 모두 같으므로, 가중치의 차이는 모두 위치에서 나옵니다.

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
    if (
        name == "T5"
    ):  # its biases start at 0; random ones stand for learned ones
        shape = attention.position.weights[0].shape
        attention.position.set_weights(
            [np.random.default_rng(1).normal(size=shape)]
        )
    _, weights[name] = attention(
        tokens, tokens, return_attention_scores=True
    )
plots.plot_attention(weights)

# %% [markdown]
# ### Only the distance counts
#
# Minus the score at distance 0, the scores of one head depend on the distance alone: every query gives the same curve.

# %% [markdown] lang="ja"
# ### 距離だけで決まる
#
# 距離 0 のスコアを引くと、一つのヘッドのスコアは距離だけで決まります。どのクエリでも同じ曲線です。

# %% [markdown] lang="ko"
# ### 거리만 중요하다
#
# 거리 0의 점수를 빼면 한 헤드의 점수는 거리만으로 정해집니다. 모든 쿼리의 곡선이 같습니다.

# %%
figure = Figure((7, 3.5), layout="constrained")
axes = figure.subplots()
for name, of_layer in weights.items():
    scores = np.log(convert_to_numpy(of_layer)[0, 0])
    scores = scores - np.diagonal(scores)[:, None]
    distances = np.arange(-12, 13)
    diagonals = [np.diagonal(scores, d) for d in distances]
    spread = max(np.ptp(diagonal) for diagonal in diagonals)
    print(
        f"{name:8} largest difference between queries",
        f"at one distance: {spread:.0e}",
    )
    axes.plot(
        distances, [diagonal.mean() for diagonal in diagonals], label=name
    )
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
# tutorial [5](5_transformer.ipynb) measures the effect. And cost grows with the square of the length: tutorial
# [4](4_cost.ipynb).

# %% [markdown] lang="ja"
# ### 演習: 学習するエンコーディングと距離の埋め込み
#
# 教科書は、学習する位置エンコーディングを考えるよう求めています。`LearnedPositionalEncoding` がそれです。クエリとキーの*距離*の埋め込みも求めています。`ShawRelativePosition` は距離ごとにベクトルを、`T5RelativeBias` は数を学習します。
#
# ### 演習: 位置付きの自己注意だけを重ねる
#
# それだけを深く重ねると、何が問題になるでしょうか。位置は最初に一度だけ加えられ、各層で他の情報と混ざるので、上の層ほど薄まります。スコアの中の方式なら、どの層にも位置が与えられます。また、加重平均を繰り返すと、すべての位置が層ごとに似ていきます。残差結合とフィードフォワード網がこれを抑えます（[チュートリアル 5](../5_transformer.ipynb)、英語）。計算量は長さの 2 乗で増えます（[チュートリアル 4](../4_cost.ipynb)、英語）。

# %% [markdown] lang="ko"
# ### 연습: 학습하는 인코딩과 거리의 임베딩
#
# 교과서는 학습하는 위치 인코딩을 만들어 보라고 합니다. `LearnedPositionalEncoding`이 그것입니다. 쿼리와 키 사이 *거리*의 임베딩도 묻습니다. `ShawRelativePosition`은 거리마다 벡터를, `T5RelativeBias`는 수를 학습합니다.
#
# ### 연습: 위치를 더한 셀프 어텐션만 쌓기
#
# 그것만 깊이 쌓으면 무엇이 문제일까요? 위치는 맨 아래에서 한 번만 더해지고 층마다 다른 것과 섞이므로, 위로 갈수록 옅어집니다. 점수 안의 방식은 모든 층에 위치를 줍니다. 또 가중 평균을 되풀이하면 층마다 모든 위치가 비슷해집니다. 잔차 연결과 피드포워드 신경망이 이를 막습니다 ([튜토리얼 5](../5_transformer.ipynb), 영어). 그리고 비용은 길이의 제곱으로 늘어납니다([튜토리얼 4](../4_cost.ipynb), 영어).

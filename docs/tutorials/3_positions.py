# %% [markdown]
# # 3 Positions
#
# After this tutorial you can
#
# - name three conditions that a code for positions must meet, and compute the sinusoidal encoding by hand;
# - derive that a step of $\delta$ positions is a rotation, the same at every position;
# - choose between learned, relative and rotary positions.
#
# **Time:** 45 minutes, and 20 for the exercises. **You should know:** [tutorial 2](2_self_attention.ipynb), sine and cosine, a matrix as a map. Terms: [glossary](../glossary.md). It covers section 11.6.3 of [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html) and goes on to learned and relative positions.

# %% [markdown] lang="ja"
# # 3 位置
#
# このチュートリアルを終えると、次のことができるようになります。
#
# - 位置を表す数が満たすべき三つの条件を挙げ、正弦波の位置エンコーディングを手で計算する。
# - 位置が $\delta$ だけ進むことが、どの位置でも同じ回転になると導く。
# - 学習する位置、相対位置、回転位置（RoPE）を使い分ける。
#
# **所要時間:** 45 分。演習に 20 分。**前提知識:** [チュートリアル 2](2_self_attention.ipynb)、三角関数、行列による写像。用語は[用語集](../../glossary.md)にあります。[Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html) の 11.6.3 節に対応し、さらに学習する位置と相対位置へ進みます。

# %% [markdown] lang="ko"
# # 3 위치
#
# 이 튜토리얼을 마치면 다음을 할 수 있습니다.
#
# - 위치를 나타내는 수가 갖추어야 할 세 조건을 말하고 사인·코사인 위치 인코딩을 손으로 계산한다.
# - 위치가 $\delta$만큼 나아가는 것이 어느 위치에서나 같은 회전임을 유도한다.
# - 학습하는 위치, 상대 위치, 회전 위치(RoPE)를 가려 쓴다.
#
# **소요 시간:** 45분, 연습 문제에 20분. **미리 알아야 할 것:** [튜토리얼 2](2_self_attention.ipynb), 삼각 함수, 행렬에 의한 변환. 용어는 [용어집](../../glossary.md)에 있습니다. [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html)의 11.6.3절에 해당하며, 학습하는 위치와 상대 위치까지 다룹니다.

# %%
import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn import plots

keras.utils.set_random_seed(0)
np.set_printoptions(precision=3, suppress=True)


def agree(by_hand, of_layer):
    """Whether two tensors have the same numbers, up to rounding."""
    by_hand, of_layer = map(convert_to_numpy, (by_hand, of_layer))
    return np.allclose(by_hand, of_layer, atol=1e-4)


# %% [markdown]
# ## What a code for positions must do
#
# Attention sees a bag of words, as [tutorial 2](2_self_attention.ipynb) has shown. So each position gets a vector of numbers, which is added to the vector of the word. A good code meets three conditions:
#
# 1. **Small.** Its numbers do not grow with the length of the text; otherwise they drown the word.
# 2. **Unique.** No two positions have the same code.
# 3. **Near means similar.** Neighbours have similar codes, distant positions do not, and a distance means the same at the beginning and at the end of a text.
#
# **Predict:** which condition does each of these codes violate: the number $t$ itself; $t / T$, the share of the text; the bits of $t$?

# %% [markdown] lang="ja"
# ## 位置を表す数の条件
#
# [チュートリアル 2](2_self_attention.ipynb) で見たように、アテンションには文が単語の集まりにしか見えません。そこで、各位置に数のベクトルを与え、単語のベクトルに加えます。よい符号は三つの条件を満たします。
#
# 1. **小さい。** 文が長くなっても数が大きくなりません。大きくなると、単語が埋もれてしまいます。
# 2. **一意である。** 同じ符号を持つ位置は二つありません。
# 3. **近ければ似ている。** 隣どうしの符号は似ていて、離れた位置の符号は似ていません。また、同じ距離は文の始めでも終わりでも同じ意味を持ちます。
#
# **予想してください。** 次の符号は、それぞれどの条件に反するでしょうか。位置の番号 $t$ そのもの。文の中での割合 $t / T$。$t$ の 2 進数のビット。

# %% [markdown] lang="ko"
# ## 위치를 나타내는 수의 조건
#
# [튜토리얼 2](2_self_attention.ipynb)에서 보았듯이 어텐션에는 문장이 단어의 모음으로만 보입니다. 그래서 위치마다 수의 벡터를 주고 단어의 벡터에 더합니다. 좋은 부호는 세 조건을 갖춥니다.
#
# 1. **작다.** 글이 길어져도 수가 커지지 않습니다. 커지면 단어가 묻힙니다.
# 2. **하나뿐이다.** 부호가 같은 위치는 둘이 없습니다.
# 3. **가까우면 비슷하다.** 이웃한 위치의 부호는 비슷하고 먼 위치의 부호는 비슷하지 않습니다. 또 같은 거리는 글의 처음에서도 끝에서도 같은 뜻을 가집니다.
#
# **예상해 보세요.** 다음 부호는 각각 어느 조건을 어길까요? 위치의 번호 $t$ 그대로. 글에서의 비율 $t / T$. $t$의 이진수 비트.

# %%
t = np.arange(64.0)[:, None]
bits = (np.arange(64)[:, None] >> np.arange(6)) & 1
for name, code in {"t": t, "t / T": t / 63, "bits": bits}.items():
    steps = np.linalg.norm(np.diff(code.astype(float), axis=0), axis=1)
    print(
        f"{name:6} largest number {code.max():4.1f},",
        f"step from one position to the next {steps.min():.3f}",
        f"to {steps.max():.3f}",
    )
longer = 1 / (128 - 1)
print(f"t / T of a text of 128 tokens: step {longer:.3f}")

# %% [markdown]
# The number itself grows. The share of the text has another step for each length, so "three tokens back" has no fixed meaning. Bits are small and unique, but from 31 (011111) to 32 (100000) all six change: neighbours are far apart.
#
# ## Sines and cosines
#
# The encoding of Vaswani et al. gives each position $t$ a vector of $D$ numbers:
#
# $$P_{t,\,2j} = \sin(r_j t), \qquad P_{t,\,2j+1} = \cos(r_j t), \qquad r_j = 10000^{-2j/D}$$
#
# Each pair of columns is a point on a circle that turns with the rate $r_j$: fast in the first columns, slowly in the last ones. The layer takes the width from its input. Its first argument is `max_len`, not the width as in the book: `PositionalEncoding(32, 0)` of the book is `PositionalEncoding()` here.

# %% [markdown] lang="ja"
# 番号そのものは大きくなり続けます。割合は、文の長さによって 1 歩の幅が変わるので、「三つ前のトークン」に決まった意味がありません。ビットは小さくて一意ですが、31（011111）から 32（100000）では六つ全部が変わり、隣どうしが遠くなります。
#
# ## 正弦と余弦
#
# Vaswani らのエンコーディングは、各位置 $t$ に $D$ 次元のベクトルを与えます。
#
# $$P_{t,\,2j} = \sin(r_j t), \qquad P_{t,\,2j+1} = \cos(r_j t), \qquad r_j = 10000^{-2j/D}$$
#
# 列の組は円の上の点で、速さ $r_j$ で回ります。最初の列は速く、最後の列はゆっくりです。このレイヤーは、次元を入力から読み取ります。最初の引数は教科書のような次元ではなく `max_len` です。教科書の `PositionalEncoding(32, 0)` は、ここでは `PositionalEncoding()` です。

# %% [markdown] lang="ko"
# 번호는 계속 커집니다. 비율은 글의 길이에 따라 한 걸음의 폭이 달라지므로 "세 토큰 앞"에 정해진 뜻이 없습니다. 비트는 작고 하나뿐이지만 31(011111)에서 32(100000)로 갈 때 여섯 개가 모두 바뀌어 이웃이 멀어집니다.
#
# ## 사인과 코사인
#
# Vaswani 등의 인코딩은 각 위치 $t$에 $D$차원 벡터를 줍니다.
#
# $$P_{t,\,2j} = \sin(r_j t), \qquad P_{t,\,2j+1} = \cos(r_j t), \qquad r_j = 10000^{-2j/D}$$
#
# 열의 쌍은 원 위의 점이며 빠르기 $r_j$로 돕니다. 처음 열은 빠르고 마지막 열은 느립니다. 이 레이어는 차원을 입력에서 읽습니다. 첫 번째 인수는 교과서처럼 차원이 아니라 `max_len`입니다. 교과서의 `PositionalEncoding(32, 0)`은 여기서 `PositionalEncoding()`입니다.


# %%
def positional_encoding(length, width):
    rates = 10000.0 ** (-ops.arange(0, width, 2, "float32") / width)
    angles = ops.arange(length, dtype="float32")[:, None] * rates[None]
    pairs = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
    return ops.reshape(pairs, (length, width))  # sine, cosine, sine, ...


zeros = np.zeros((1, 60, 32))  # (B, T, D): the encoding is added to it
encoding = convert_to_numpy(keras_attn.PositionalEncoding()(zeros))[0]
assert agree(positional_encoding(60, 32), encoding)
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
# Binary numbers work the same way: the lowest bit changes with every number, the next with every second one, and so on. Sines and cosines do this with continuous numbers. A number of a vector is a float anyway, and a float that holds a bit is mostly wasted: it can take millions of values and takes two. Floats that use their range say more with as many numbers, and change smoothly: no jump as from 31 to 32.

# %% [markdown] lang="ja"
# ## 2 進数
#
# 2 進数も同じ仕組みです。最下位のビットは数ごとに、次のビットは二つごとに変わります。正弦と余弦は、これを連続した数で行います。ベクトルの成分はもともと浮動小数点数なので、ビットを入れるだけでは無駄になります。何百万通りもの値を取れるのに、二通りしか使わないからです。範囲全体を使えば、同じ個数の数でより多くを表せます。しかも滑らかに変わり、31 から 32 のような飛躍がありません。

# %% [markdown] lang="ko"
# ## 이진수 세기
#
# 이진수도 같은 방식입니다. 가장 낮은 비트는 수마다, 그다음 비트는 두 수마다 바뀝니다. 사인과 코사인은 이것을 연속된 수로 합니다. 벡터의 성분은 어차피 부동소수점 수이므로 비트 하나만 담으면 낭비입니다. 수백만 가지 값을 가질 수 있는데 두 가지만 쓰기 때문입니다. 범위를 다 쓰면 같은 개수의 수로 더 많은 것을 나타내고, 31에서 32로 갈 때와 같은 도약 없이 매끄럽게 변합니다.

# %%
for number in range(8):
    print(f"{number} in binary is {number:03b}")
plots.plot_binary_counting(num_bits=3, encoding=encoding)

# %% [markdown]
# ## Similarity of positions
#
# **Predict:** is position 3 as similar to position 10 as position 43 is to 50?
#
# The cosine similarity of two encodings depends on their distance alone: each diagonal has one colour. Near positions are similar.
#
# <!-- live: positions -->

# %% [markdown] lang="ja"
# ## 位置の類似度
#
# **予想してください。** 位置 3 と 10 の類似度は、位置 43 と 50 の類似度と同じでしょうか。
#
# 二つのエンコーディングのコサイン類似度は、距離だけで決まります。どの対角線も一色です。近い位置は似ています。
#
# <!-- live: positions -->

# %% [markdown] lang="ko"
# ## 위치의 유사도
#
# **예상해 보세요.** 위치 3과 10의 유사도는 위치 43과 50의 유사도와 같을까요?
#
# 두 인코딩의 코사인 유사도는 거리만으로 정해집니다. 대각선마다 색이 하나입니다. 가까운 위치는 서로 비슷합니다.
#
# <!-- live: positions -->

# %%
print(f"3 and 10: {encoding[3] @ encoding[10] / 16:.4f}")
print(f"43 and 50: {encoding[43] @ encoding[50] / 16:.4f}")
plots.plot_position_similarity(encoding)

# %% [markdown]
# ## The rotation matrix of an offset
#
# The addition theorems say what happens to a pair of columns after a step of $\delta$ positions. With the angles $a = r_j t$ and $b = r_j \delta$:
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# The new pair is thus a matrix times the old pair, and $t$ does not occur in the matrix:
#
# $$\begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix} = \begin{pmatrix} \cos r_j\delta & \sin r_j\delta \\ -\sin r_j\delta & \cos r_j\delta \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix}$$
#
# It is a rotation, the same for every position, so the matrix $W^Q$ of a layer can learn "three tokens back". A rotation also keeps lengths, and the dot product of two encodings is $\sum_j \cos(r_j \delta)$: a function of the distance alone.

# %% [markdown] lang="ja"
# ## ずれの回転行列
#
# 位置が $\delta$ だけ進むと列の組がどうなるかは、加法定理で分かります。角度を $a = r_j t$、$b = r_j \delta$ とします。
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# つまり新しい組は、行列と元の組の積で、行列に $t$ は現れません。
#
# $$\begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix} = \begin{pmatrix} \cos r_j\delta & \sin r_j\delta \\ -\sin r_j\delta & \cos r_j\delta \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix}$$
#
# これは回転で、どの位置でも同じです。だからレイヤーの行列 $W^Q$ は「三つ前のトークン」を学習できます。回転はノルムも保ちます。二つのエンコーディングの内積は $\sum_j \cos(r_j \delta)$、つまり距離だけの関数です。

# %% [markdown] lang="ko"
# ## 간격의 회전 행렬
#
# 위치가 $\delta$만큼 나아가면 열의 쌍이 어떻게 되는지는 삼각 함수의 덧셈 정리로 알 수 있습니다. 각도를 $a = r_j t$, $b = r_j \delta$라고 합시다.
#
# $$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b$$
#
# 따라서 새 쌍은 행렬과 원래 쌍의 곱이며, 행렬에 $t$는 나오지 않습니다.
#
# $$\begin{pmatrix} P_{t+\delta,\,2j} \\ P_{t+\delta,\,2j+1} \end{pmatrix} = \begin{pmatrix} \cos r_j\delta & \sin r_j\delta \\ -\sin r_j\delta & \cos r_j\delta \end{pmatrix} \begin{pmatrix} P_{t,\,2j} \\ P_{t,\,2j+1} \end{pmatrix}$$
#
# 이것은 회전이며 어느 위치에서나 같습니다. 그래서 레이어의 행렬 $W^Q$는 "세 토큰 앞"을 배울 수 있습니다. 회전은 노름도 유지합니다. 두 인코딩의 내적은 $\sum_j \cos(r_j \delta)$, 곧 거리만의 함수입니다.

# %%
j, offset = 4, 3
rates = 10000.0 ** (-np.arange(0, 32, 2) / 32)
angle = offset * rates[j]
rotation = np.array(
    [[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]
)
print(f"rotation of columns {2 * j} and {2 * j + 1} by {offset} positions")
print(rotation)
pair = encoding[:, 2 * j : 2 * j + 2]
assert agree(pair[:-offset] @ rotation.T, pair[offset:])
assert agree(
    encoding[7] @ encoding[7 + offset], np.cos(offset * rates).sum()
)

# %% [markdown]
# ### The rotation, drawn
#
# The pair of columns moves on a circle. From each of four positions, the arrow leads three positions on; all arrows turn by the same angle.

# %% [markdown] lang="ja"
# ### 回転の図
#
# 列の組は円の上を動きます。四つの位置から、三つ先の位置へ矢印を引きました。どの矢印も同じ角度だけ回ります。

# %% [markdown] lang="ko"
# ### 회전의 그림
#
# 열의 쌍은 원 위를 움직입니다. 네 위치에서 세 칸 뒤의 위치로 화살표를 그렸습니다. 모든 화살표는 같은 각도만큼 돕니다.

# %% tags=["plot"]
figure = Figure((4, 4), layout="constrained")
axes = figure.subplots()
axes.plot(pair[:, 0], pair[:, 1], ".", color="lightgrey")
arrow = {"arrowstyle": "->", "color": "C3"}
for t in (0, 8, 16, 24):
    axes.annotate("", pair[t + offset], pair[t], arrowprops=arrow)
    axes.annotate(f"t = {t}", 1.2 * pair[t], ha="center", va="center")
axes.set_xlim(-1.5, 1.5)
axes.set_ylim(-1.5, 1.5)
axes.set_aspect("equal")
axes.set_xlabel(f"column {2 * j}")
axes.set_ylabel(f"column {2 * j + 1}")
figure

# %% [markdown]
# ## Does adding not spoil the embedding?
#
# The sum of a word and a position is one vector. Can a layer still tell the word from the position? It can, as long as the words and the positions use different directions; a vector of 128 numbers has many. A learned matrix then reads one and ignores the other. Concatenation would be safer, but adding is nearly the same: a matrix applied to $[x, p]$ is $W_1 x + W_2 p$, and training arranges the directions in $x + p$ as it needs them.
#
# The test: 60 random words at 60 positions, 3,600 sums. One matrix, found by least squares, shall return the word; another the position.

# %% [markdown] lang="ja"
# ## 足すと埋め込みが壊れないのか
#
# 単語と位置の和は一つのベクトルです。それでもレイヤーは単語と位置を区別できるでしょうか。単語と位置が違う方向を使っていれば区別できます。128 次元には多くの方向があります。学習した行列は、一方を読み、もう一方を無視できます。連結した方が確実ですが、足すこととほとんど同じです。$[x, p]$ に行列を掛けると $W_1 x + W_2 p$ になり、学習は $x + p$ の中の方向を必要に応じて割り当てます。
#
# 確かめます。ランダムな単語 60 個を 60 個の位置に置き、3,600 個の和を作ります。最小二乗法で求めた一つの行列が単語を、もう一つの行列が位置を取り出せるでしょうか。

# %% [markdown] lang="ko"
# ## 더하면 임베딩이 망가지지 않을까
#
# 단어와 위치의 합은 벡터 하나입니다. 그래도 레이어가 단어와 위치를 구별할 수 있을까요? 단어와 위치가 서로 다른 방향을 쓰면 구별할 수 있습니다. 128차원에는 방향이 많습니다. 학습한 행렬은 하나를 읽고 다른 하나를 무시할 수 있습니다. 이어 붙이는 것이 더 확실하지만 더하는 것과 거의 같습니다. $[x, p]$에 행렬을 곱하면 $W_1 x + W_2 p$가 되고, 학습이 $x + p$ 안의 방향을 필요한 대로 나눕니다.
#
# 확인해 봅시다. 무작위 단어 60개를 위치 60개에 놓아 합 3,600개를 만듭니다. 최소 제곱법으로 구한 행렬 하나가 단어를, 다른 행렬이 위치를 꺼낼 수 있을까요?

# %%
random = np.random.default_rng(0)
words = random.normal(size=(60, 128))
places = convert_to_numpy(positional_encoding(60, 128))
sums = (words[:, None] + places[None]).reshape(3600, 128)
word_of = np.repeat(np.arange(60), 60)
place_of = np.tile(np.arange(60), 60)
for name, table, right in (
    ("word", words, word_of),
    ("position", places, place_of),
):
    matrix = np.linalg.lstsq(sums, table[right], rcond=None)[0]
    distances = ((sums @ matrix)[:, None] - table[None]) ** 2
    found = distances.sum(-1).argmin(-1)
    print(f"{name} read from the sum: {np.mean(found == right):.1%} right")

# %% [markdown]
# ## Learned encodings do not extrapolate
#
# `LearnedPositionalEncoding` has a table with a row for each position and learns it like any weight. Rows that no training sentence reached keep their random start. The task: is the token 1 in the first or in the second half of the sequence? Trained on positions 0 to 15 of a table with 32 rows, tested on positions 16 to 31. **Predict:** how many of the answers are right there?

# %% [markdown] lang="ja"
# ## 学習された位置エンコーディングは外挿できない
#
# `LearnedPositionalEncoding` は、位置ごとに 1 行の表を持ち、ほかの重みと同じように学習します。学習中に一度も使われなかった行は、最初の乱数のままです。課題は、トークン 1 が系列の前半にあるか後半にあるかを当てることです。32 行の表の位置 0〜15 で学習し、位置 16〜31 で試します。**予想してください。** そこではどのくらい正解するでしょうか。

# %% [markdown] lang="ko"
# ## 학습한 인코딩은 외삽하지 못한다
#
# `LearnedPositionalEncoding`은 위치마다 한 행인 표를 가지고, 다른 가중치처럼 학습합니다. 학습에서 한 번도 쓰이지 않은 행은 처음의 난수 그대로입니다. 과제는 토큰 1이 시퀀스의 앞 절반에 있는지 뒤 절반에 있는지 맞히는 것입니다. 32행인 표의 위치 0~15에서 학습하고 위치 16~31에서 시험합니다. **예상해 보세요.** 거기서는 얼마나 맞힐까요?


# %%
def examples(number):
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


def train(position):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model = Halves(position)
    model.compile(keras.optimizers.Adam(1e-2), loss)
    model.fit(ids, halves, epochs=12, batch_size=64, verbose=0)
    for start in (0, 16):
        answers = convert_to_numpy(model(test_ids, start=start))
        right = np.mean(answers.argmax(-1) == test_halves)
        print(f"positions {start} to {start + 15}: {right:.0%} right")
    return model


ids, halves = examples(2000)
test_ids, test_halves = examples(500)
learned = train(keras_attn.LearnedPositionalEncoding(max_len=32))
table = learned.position.get_weights()[0]
norms = np.linalg.norm(table, axis=1)
print(f"mean norm of rows 0 to 15: {norms[:16].mean():.2f},", end=" ")
print(f"of rows 16 to 31: {norms[16:].mean():.2f}")
plots.plot_encoding(table)

# %% [markdown]
# And past the end of the table there is no row at all, which the layer says:

# %% [markdown] lang="ja"
# 表の終わりを越えると行そのものがなく、レイヤーがエラーで知らせます。

# %% [markdown] lang="ko"
# 표의 끝을 넘으면 행이 아예 없으며, 레이어가 오류로 알려 줍니다.

# %%
try:
    learned.position(np.zeros((1, 16, 16)), start=20)
except ValueError as error:
    print(error)

# %% [markdown]
# ## Relative schemes
#
# What matters is often the distance, not the position. Four schemes change the scores inside attention. They are passed as `MultiHeadAttention(..., position=...)`.
#
# | scheme | score of query $t$ and key $s$ | learned |
# |---|---|---|
# | `ShawRelativePosition(max_distance)` | $q_t \cdot (k_s + a_{s-t}) / \sqrt{K}$, and values $v_s + b_{s-t}$ | vectors $a$, $b$ for each distance, up to a largest one |
# | `T5RelativeBias()` | $q_t \cdot k_s / \sqrt{K} + b_{\mathrm{bucket}(s-t)}$ | a number for each head and range of distances |
# | `AlibiBias()` | $q_t \cdot k_s / \sqrt{K} - m \lvert t - s \rvert$ | nothing |
# | `RotaryEmbedding()` | $R_t q_t \cdot R_s k_s / \sqrt{K}$ with rotations $R$ | nothing |
#
# The rotary scheme is the rotation of this page, applied to queries and keys: $R_t q_t \cdot R_s k_s = q_t \cdot R_{s-t} k_s$ contains the distance alone. All tokens below are the same, so every difference between the weights comes from the positions.

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
# `RotaryEmbedding` は、このページの回転をクエリとキーに適用したものです。$R_t q_t \cdot R_s k_s = q_t \cdot R_{s-t} k_s$ には距離だけが現れます。下のトークンはすべて同じなので、重みの違いはすべて位置から来ています。

# %% [markdown] lang="ko"
# ## 상대 위치 방식
#
# 중요한 것은 위치보다 거리인 때가 많습니다. 네 방식은 어텐션 안의 스코어를 바꿉니다. `MultiHeadAttention(..., position=...)`에 넘깁니다.
#
# | 방식 | 쿼리 $t$와 키 $s$의 스코어 | 학습하는 것 |
# |---|---|---|
# | `ShawRelativePosition(max_distance)` | $q_t \cdot (k_s + a_{s-t}) / \sqrt{K}$, 값은 $v_s + b_{s-t}$ | 가장 먼 거리까지 거리마다 벡터 $a$, $b$ |
# | `T5RelativeBias()` | $q_t \cdot k_s / \sqrt{K} + b_{\mathrm{bucket}(s-t)}$ | 헤드와 거리 범위마다 수 하나 |
# | `AlibiBias()` | $q_t \cdot k_s / \sqrt{K} - m \lvert t - s \rvert$ | 없음 |
# | `RotaryEmbedding()` | 회전 $R$에 의한 $R_t q_t \cdot R_s k_s / \sqrt{K}$ | 없음 |
#
# `RotaryEmbedding`은 이 페이지의 회전을 쿼리와 키에 적용한 것입니다. $R_t q_t \cdot R_s k_s = q_t \cdot R_{s-t} k_s$에는 거리만 나타납니다. 아래의 토큰은 모두 같으므로, 가중치의 차이는 모두 위치에서 나옵니다.

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
    if name == "T5":  # its biases start at 0; random ones stand for learned
        shape = attention.position.weights[0].shape
        biases = np.random.default_rng(1).normal(size=shape)
        attention.position.set_weights([biases])
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
# 거리 0의 스코어를 빼면 한 헤드의 스코어는 거리만으로 정해집니다. 모든 쿼리의 곡선이 같습니다.

# %%
distances = np.arange(-12, 13)
curves = {}
for name, of_layer in weights.items():
    scores = np.log(convert_to_numpy(of_layer)[0, 0])
    scores = scores - np.diagonal(scores)[:, None]
    diagonals = [np.diagonal(scores, d) for d in distances]
    assert max(np.ptp(diagonal) for diagonal in diagonals) < 1e-4
    curves[name] = [diagonal.mean() for diagonal in diagonals]

# %% tags=["plot"]
figure = Figure((7, 3.5), layout="constrained")
axes = figure.subplots()
for name, curve in curves.items():
    axes.plot(distances, curve, label=name)
axes.set_xlabel("distance s - t from query to key")
axes.set_ylabel("score minus score at distance 0")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ### Exercise: only self-attention with positions, stacked
#
# What could go wrong in a deep stack of nothing but self-attention with a positional encoding?
#
# <details><summary>Answer</summary>
#
# The position is added once, at the bottom, and each layer mixes it with the rest, so upper layers get it diluted; schemes inside the scores give it to each layer. Weighted means of weighted means also make all positions more alike from layer to layer. Residual connections and the feed-forward network work against this; [tutorial 5](5_transformer.ipynb) measures the effect. Training gets harder with depth, and cost grows with the square of the length: [tutorial 4](4_cost.ipynb).
#
# </details>
#
# ### Exercise: a learnable encoding, and embeddings of distances
#
# Design an encoding that is learned and still has values at positions that training never reached. How would you learn embeddings of the *distance* between query and key instead?
#
# <details><summary>Answer</summary>
#
# Keep sine and cosine and learn the rates $r_j$: any position has values. The layer below does so. A value is not yet an answer: this task has its border at position 8, and no training sentence showed another one. A table has no values there, but `LearnedPositionalEncoding` is the simplest learned encoding. For distances, learn a vector per distance and add it to the key before the dot product, as `ShawRelativePosition`, or a number per distance that is added to the score, as `T5RelativeBias`. Distances beyond the largest one share its entry, so that the table ends nowhere.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: 位置付きのセルフアテンションだけを重ねる
#
# 位置エンコーディングを加えたセルフアテンションだけを深く重ねると、何が問題になるでしょうか。
#
# <details><summary>解答</summary>
#
# 位置は最初に一度だけ加えられ、各レイヤーでほかの情報と混ざるので、上のレイヤーほど薄まります。スコアの中の方式なら、どのレイヤーにも位置が与えられます。また、加重平均を繰り返すと、すべての位置がレイヤーごとに似ていきます。残差接続とフィードフォワードネットワークがこれを抑えます。[チュートリアル 5](5_transformer.ipynb) で効果を測ります。深くなるほど学習は難しくなり、計算量は長さの 2 乗で増えます（[チュートリアル 4](4_cost.ipynb)）。
#
# </details>
#
# ### 演習: 学習するエンコーディングと距離の埋め込み
#
# 学習でき、しかも学習で一度も現れなかった位置でも値を持つエンコーディングを設計してください。代わりにクエリとキーの*距離*の埋め込みを学習するには、どうしますか。
#
# <details><summary>解答</summary>
#
# 正弦と余弦はそのままにして、速さ $r_j$ を学習します。どの位置にも値があります。下のレイヤーがそれです。ただし、値があっても答えられるとは限りません。この課題の境目は位置 8 で、ほかの境目は学習に現れていないからです。表は範囲の外に値を持ちませんが、最も単純な学習するエンコーディングは `LearnedPositionalEncoding` です。距離については、距離ごとのベクトルを学習して内積の前にキーに足すか（`ShawRelativePosition`）、距離ごとの数を学習してスコアに足します（`T5RelativeBias`）。最大より遠い距離は最後の項目を共有するので、表が尽きることはありません。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 위치를 더한 셀프 어텐션만 쌓기
#
# 위치 인코딩을 더한 셀프 어텐션만 깊이 쌓으면 무엇이 문제일까요?
#
# <details><summary>답</summary>
#
# 위치는 맨 아래에서 한 번만 더해지고 레이어마다 다른 것과 섞이므로 위로 갈수록 옅어집니다. 스코어 안의 방식은 모든 레이어에 위치를 줍니다. 또 가중 평균을 되풀이하면 레이어마다 모든 위치가 비슷해집니다. 잔차 연결과 피드포워드 네트워크가 이를 막습니다. [튜토리얼 5](5_transformer.ipynb)에서 효과를 잽니다. 깊을수록 학습이 어려워지고 비용은 길이의 제곱으로 늘어납니다([튜토리얼 4](4_cost.ipynb)).
#
# </details>
#
# ### 연습: 학습하는 인코딩과 거리의 임베딩
#
# 학습할 수 있으면서 학습에 한 번도 나오지 않은 위치에서도 값이 있는 인코딩을 설계하세요. 대신 쿼리와 키 사이 *거리*의 임베딩을 학습하려면 어떻게 하겠습니까?
#
# <details><summary>답</summary>
#
# 사인과 코사인은 그대로 두고 빠르기 $r_j$를 학습합니다. 어느 위치에나 값이 있습니다. 아래의 레이어가 그것입니다. 다만 값이 있다고 답할 수 있는 것은 아닙니다. 이 과제의 경계는 위치 8이고, 다른 경계는 학습에 나오지 않았기 때문입니다. 표는 범위 밖에 값이 없지만, 가장 단순한 학습하는 인코딩은 `LearnedPositionalEncoding`입니다. 거리라면 거리마다 벡터를 학습해 내적 앞에서 키에 더하거나(`ShawRelativePosition`), 거리마다 수를 학습해 스코어에 더합니다(`T5RelativeBias`). 가장 먼 거리보다 먼 것은 마지막 항목을 함께 쓰므로 표가 모자라지 않습니다.
#
# </details>


# %% tags=["answer"]
class LearnedRates(keras.layers.Layer):
    def build(self, shape):
        rates = 10000.0 ** (-np.arange(0, shape[-1], 2) / shape[-1])
        self.log_rates = self.add_weight(
            shape=rates.shape,
            initializer=lambda *_, **__: np.log(rates).astype("float32"),
        )

    def call(self, x, start=0):
        t = ops.arange(x.shape[1], dtype="float32") + start
        angles = t[:, None] * ops.exp(self.log_rates)
        pairs = ops.stack([ops.sin(angles), ops.cos(angles)], axis=-1)
        return x + ops.reshape(pairs, (1, *x.shape[1:]))


layer = LearnedRates()
assert agree(layer(zeros.astype("float32"))[0], encoding)  # before training
of_rates = train(LearnedRates())

# %% [markdown]
# ## What to take along
#
# - A code for positions is small, unique, and similar for near positions. Sines and cosines of many rates are; bits and plain numbers are not.
# - A step of $\delta$ is a rotation that does not depend on $t$. Rotary embeddings rotate queries and keys by it.
# - A learned table ends where training ended. Schemes by distance do not.

# %% [markdown] lang="ja"
# ## まとめ
#
# - 位置の符号は、小さく、一意で、近い位置で似ています。さまざまな速さの正弦と余弦はこれを満たし、ビットや番号そのものは満たしません。
# - $\delta$ だけ進むことは、$t$ によらない回転です。`RotaryEmbedding` は、それでクエリとキーを回します。
# - 学習した表は、学習した範囲で終わります。距離による方式は終わりません。

# %% [markdown] lang="ko"
# ## 정리
#
# - 위치의 부호는 작고, 하나뿐이며, 가까운 위치에서 비슷합니다. 여러 빠르기의 사인과 코사인은 이를 만족하고 비트와 번호는 그렇지 않습니다.
# - $\delta$만큼 나아가는 것은 $t$와 관계없는 회전입니다. `RotaryEmbedding`은 그것으로 쿼리와 키를 돌립니다.
# - 학습한 표는 학습한 범위에서 끝납니다. 거리에 의한 방식은 끝나지 않습니다.

# %% [markdown]
# # 4 Convolution, recurrence and self-attention
#
# This tutorial covers section 11.6.2 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html),
# and exercises 4 and 5 of section 11.7.
#
# - **You learn** to compute each of the three layers by hand, to count its multiplications, to see why a recurrent layer is slow on
#   long sequences, and to measure how many layers two distant positions need to meet.
# - **Time:** 20 minutes; the cells run for about a minute.
# - **Before this:** [2 Self-attention and heads](2_self_attention.ipynb), and what a matrix product is.

# %% [markdown] lang="ja"
# # 4 畳み込み、再帰、自己注意
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html) の 11.6.2 節と、11.7 節の演習 4、5 に対応します。
#
# - **学ぶこと:** 三つのレイヤーを自分の手で計算し、乗算の回数を数えます。再帰レイヤーが長い系列で遅い理由を確かめ、離れた二つの位置が出会うまでに何層必要かを測ります。
# - **所要時間:** 20 分。セルの実行は 1 分ほどです。
# - **前提:** [2 自己注意とヘッド](2_self_attention.ipynb)と、行列の積。

# %% [markdown] lang="ko"
# # 4 합성곱, 순환, 셀프 어텐션
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/self-attention-and-positional-encoding.html)의 11.6.2절과 11.7절의 연습문제 4, 5에 해당합니다.
#
# - **배우는 것:** 세 레이어를 직접 계산하고 곱셈 횟수를 셉니다. 순환 레이어가 긴 시퀀스에서 느린 까닭을 확인하고, 멀리 떨어진 두 위치가 만나려면 몇 층이 필요한지 잽니다.
# - **시간:** 20분. 셀 실행에는 1분쯤 걸립니다.
# - **미리 알아 둘 것:** [2 셀프 어텐션과 헤드](2_self_attention.ipynb)와 행렬의 곱.

# %%
import time

import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
d, k = 64, 3  # width of a vector, kernel size


def make_layer(name):
    if name == "convolution":
        return keras.layers.Conv1D(d, k, padding="same")
    if name == "recurrence":
        return keras.layers.SimpleRNN(d, return_sequences=True)
    # Without projections, which would add operations of their own.
    attention = keras_attn.DotProductAttention()
    return keras.layers.Lambda(lambda x: attention(x, x))


names = ("convolution", "recurrence", "self-attention")

# %% [markdown]
# ## Three ways to read a sequence
#
# Three layers read $n$ vectors of width $d$ and return $n$ vectors. A convolution sees $k$ neighbours. A recurrent layer goes from left to
# right and keeps a state. Self-attention sees all positions at once.
#
# ![How the first and the last of five positions meet: in a convolution of kernel 3 after two layers, in a recurrent layer after n steps one after the other, in self-attention after one step.](../pictures/three_layers.svg)
#
# Each is a few lines of `keras.ops`. The layers of Keras and of this package give the same numbers:

# %% [markdown] lang="ja"
# ## 系列を読む三つの方法
#
# 三つのレイヤーは、$d$ 次元のベクトル $n$ 個を読み、$n$ 個のベクトルを返します。畳み込みは隣り合う $k$ 個を見ます。再帰レイヤーは左から右へ進み、状態を保ちます。自己注意はすべての位置を一度に見ます。
#
# ![五つの位置の両端が出会うまで。カーネルサイズ 3 の畳み込みでは 2 層、再帰では順番に n ステップ、自己注意では 1 ステップ。](../../pictures/three_layers.svg)
#
# どれも `keras.ops` で数行です。Keras とこのパッケージのレイヤーと同じ数になります。

# %% [markdown] lang="ko"
# ## 시퀀스를 읽는 세 가지 방법
#
# 세 레이어는 $d$차원 벡터 $n$개를 읽고 벡터 $n$개를 돌려줍니다. 합성곱은 이웃한 $k$개를 봅니다. 순환 레이어는 왼쪽에서 오른쪽으로 가며 상태를 유지합니다. 셀프 어텐션은 모든 위치를 한꺼번에 봅니다.
#
# ![다섯 위치의 양 끝이 만나기까지. 커널 크기 3인 합성곱은 2층, 순환은 차례로 n단계, 셀프 어텐션은 1단계.](../../pictures/three_layers.svg)
#
# 모두 `keras.ops` 몇 줄이면 됩니다. Keras와 이 패키지의 레이어가 내는 수와 같습니다.

# %%
n = 5
x = random.normal(size=(1, n, d)).astype("float32")


def convolution(x, kernel):
    """`kernel` has a d x d matrix for each of k neighbours."""
    padded = ops.pad(x, [[0, 0], [k // 2, k // 2], [0, 0]])
    length = x.shape[1]
    return sum(padded[:, i : i + length] @ kernel[i] for i in range(k))


def recurrence(x, of_input, of_state):
    state, states = ops.zeros((x.shape[0], d)), []
    for t in range(x.shape[1]):  # each step needs the state before it
        state = ops.tanh(x[:, t] @ of_input + state @ of_state)
        states.append(state)
    return ops.stack(states, axis=1)


def self_attention(x):
    scores = x @ ops.swapaxes(x, 1, 2) / d**0.5
    return ops.softmax(scores) @ x


by_hand = (convolution, recurrence, self_attention)
for name, function in zip(names, by_hand, strict=True):
    layer = make_layer(name)
    expected = layer(x)  # creates the weights
    matrices = [w for w in layer.weights if len(w.shape) > 1]  # no biases
    found = function(ops.convert_to_tensor(x), *matrices)
    assert np.allclose(found, expected, atol=1e-4), name
print("the three layers by hand equal the layers")

# %% [markdown]
# ## The three orders
#
# | layer | multiplications | steps one after the other | layers until the ends meet |
# |---|---|---|---|
# | convolution | $O(k n d^2)$ | $O(1)$ | $O(n/k)$ |
# | recurrence | $O(n d^2)$ | $O(n)$ | 1 layer, but $O(n)$ steps |
# | self-attention | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
#
# - A convolution multiplies $k$ vectors by a $d \times d$ matrix, at each of $n$ positions.
# - A recurrent layer multiplies the input and its state by a $d \times d$ matrix, $n$ times, one after the other.
# - Self-attention compares $n$ queries with $n$ keys of width $d$, and sums $n$ values of width $d$, for each query.
#
# **Predict:** the width is 64. For which length $n$ does self-attention need as many multiplications as recurrence? And at $n$ = 1,024,
# how many times as many?

# %% [markdown] lang="ja"
# ## 三つのオーダー
#
# | レイヤー | 乗算 | 順番に行うステップ | 両端が出会うまでの層 |
# |---|---|---|---|
# | 畳み込み | $O(k n d^2)$ | $O(1)$ | $O(n/k)$ |
# | 再帰 | $O(n d^2)$ | $O(n)$ | 1 層、ただし $O(n)$ ステップ |
# | 自己注意 | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
#
# - 畳み込みは、$n$ 個の位置のそれぞれで、$k$ 個のベクトルに $d \times d$ 行列を掛けます。
# - 再帰レイヤーは、入力と状態に $d \times d$ 行列を掛けます。これを順番に $n$ 回行います。
# - 自己注意は、$d$ 次元のクエリ $n$ 個をキー $n$ 個と比べ、クエリごとに $d$ 次元のバリュー $n$ 個の和を取ります。
#
# **予想してください:** 次元は 64 です。自己注意と再帰の乗算の回数が等しくなる長さ $n$ はいくつですか。$n$ = 1,024 では何倍になりますか。

# %% [markdown] lang="ko"
# ## 세 가지 차수
#
# | 레이어 | 곱셈 | 차례로 하는 단계 | 양 끝이 만날 때까지의 층 |
# |---|---|---|---|
# | 합성곱 | $O(k n d^2)$ | $O(1)$ | $O(n/k)$ |
# | 순환 | $O(n d^2)$ | $O(n)$ | 1층이지만 $O(n)$단계 |
# | 셀프 어텐션 | $O(n^2 d)$ | $O(1)$ | $O(1)$ |
#
# - 합성곱은 $n$개 위치마다 벡터 $k$개에 $d \times d$ 행렬을 곱합니다.
# - 순환 레이어는 입력과 상태에 $d \times d$ 행렬을 곱하는 일을 차례로 $n$번 합니다.
# - 셀프 어텐션은 $d$차원 쿼리 $n$개를 키 $n$개와 비교하고, 쿼리마다 $d$차원 값 $n$개를 더합니다.
#
# **예상해 보세요:** 차원은 64입니다. 셀프 어텐션과 순환의 곱셈 횟수가 같아지는 길이 $n$은 얼마일까요? $n$ = 1,024에서는 몇 배일까요?

# %%
lengths = [16, 64, 256, 1024]


def multiplications(name, n, d=d):
    return {
        "convolution": k * n * d**2,
        "recurrence": 2 * n * d**2,  # of the input and of the state
        "self-attention": 2 * n**2 * d,  # scores and sums
    }[name]


print("     n" + "".join(f"{name:>16}" for name in names))
for n in lengths:
    counts = [multiplications(name, n) for name in names]
    print(f"{n:6}" + "".join(f"{count:16,}" for count in counts))

# %% [markdown]
# <details><summary>Answer</summary>
#
# At $n = d = 64$ both need the same number. Beyond, self-attention needs $n / d$ times as many: 16 times at $n$ = 1,024.
#
# </details>
#
# ## Cost, measured
#
# Milliseconds of a forward pass, as `examples/cost_of_layers.py` measured them once: two cores of an AMD EPYC, batches of 16
# sequences, width 128, kernel size 3. Times of a busy machine would teach little, so these numbers are stored. Run the program to get your
# own. Dashed lines are the counts from the table before, scaled to the time at the longest length.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# $n = d = 64$ で等しくなります。それより長いと、自己注意は $n / d$ 倍の乗算が必要です。$n$ = 1,024 では 16 倍です。
#
# </details>
#
# ## コストを測る
#
# 順伝播にかかるミリ秒です。`examples/cost_of_layers.py` で一度測ったものです。AMD EPYC の 2 コア、バッチは 16 系列、次元は 128、カーネルサイズは 3 です。忙しいコンピューターの時間からは学べることが少ないので、この数は保存してあります。自分の時間は、このプログラムを実行すると得られます。破線は前の表の回数を、最も長い系列での時間に合わせたものです。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# $n = d = 64$에서 같습니다. 그보다 길면 셀프 어텐션에는 $n / d$배의 곱셈이 필요합니다. $n$ = 1,024에서는 16배입니다.
#
# </details>
#
# ## 비용 재기
#
# 순전파에 걸리는 밀리초입니다. `examples/cost_of_layers.py`로 한 번 잰 것입니다. AMD EPYC의 코어 두 개, 배치는 시퀀스 16개, 128차원, 커널 크기 3입니다. 바쁜 컴퓨터의 시간에서는 배울 것이 적어서 이 수를 저장해 두었습니다. 자기 컴퓨터의 시간은 이 프로그램을 실행해서 얻습니다. 점선은 앞 표의 횟수를 가장 긴 시퀀스의 시간에 맞춘 것입니다.

# %%
measured_lengths = [16, 64, 256, 1024, 2048]
measured = {
    "convolution": [1.92, 2.07, 6.23, 23.50, 36.72],
    "recurrence": [2.09, 4.38, 18.35, 72.98, 141.98],
    "self-attention": [1.30, 2.12, 18.10, 229.48, 859.26],
}
print("     n" + "".join(f"{name:>16}" for name in names))
for n, *row in zip(measured_lengths, *measured.values(), strict=True):
    print(f"{n:6}" + "".join(f"{value:13.1f} ms" for value in row))

# %% tags=["plot"]
figure = Figure((6.5, 3.5), layout="constrained")
axes = figure.subplots()
for i, name in enumerate(names):
    counts = [multiplications(name, n, d=128) for n in measured_lengths]
    scaled = np.array(counts) * measured[name][-1] / counts[-1]
    axes.loglog(measured_lengths, measured[name], f"C{i}o-", label=name)
    axes.loglog(measured_lengths, scaled, f"C{i}--")
axes.set_xlabel("length n")
axes.set_ylabel("milliseconds")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# Below some length, the overhead of a call hides the count. Self-attention is slower than recurrence from about $n$ = 270 on, later than the count
# says ($n = d = 128$): its large products use the processor better than the small products of the steps.
#
# ## Sequential operations, measured
#
# Here the number of tokens is always 4,096, and only the arrangement changes: 256 short sequences or 4 long ones. Convolution and
# recurrence do the same number of multiplications in all of them. Each time is the best of forty, in milliseconds.
#
# **Predict:** which of the three takes the same time in each arrangement?

# %% [markdown] lang="ja"
# 短い系列では、呼び出し自体の時間の方が大きくなります。自己注意が再帰より遅くなるのは $n$ = 270 あたりからで、回数から予想される $n = d = 128$ より後です。自己注意の大きな積の方が、各ステップの小さな積よりプロセッサーをうまく使うからです。
#
# ## 順番に行う演算を測る
#
# トークンの数は常に 4,096 で、並べ方だけが変わります。短い系列 256 本から、長い系列 4 本までです。畳み込みと再帰の乗算の回数は、どの並べ方でも同じです。時間は 40 回測った最小値（ミリ秒）です。
#
# **予想してください:** 三つのうち、どの並べ方でも時間がほぼ同じなのはどれですか。

# %% [markdown] lang="ko"
# 시퀀스가 짧으면 호출 자체에 드는 시간이 더 큽니다. 셀프 어텐션이 순환보다 느려지는 것은 $n$ = 270쯤부터이고, 횟수에서 예상되는 $n = d = 128$보다 뒤입니다. 셀프 어텐션의 큰 곱이 각 단계의 작은 곱보다 프로세서를 더 잘 쓰기 때문입니다.
#
# ## 차례로 하는 연산 재기
#
# 토큰 수는 언제나 4,096이고 배열만 바뀝니다. 짧은 시퀀스 256개부터 긴 시퀀스 4개까지입니다. 합성곱과 순환의 곱셈 횟수는 어느 배열에서나 같습니다. 시간은 마흔 번 잰 것 가운데 가장 짧은 것(밀리초)입니다.
#
# **예상해 보세요:** 셋 가운데 어느 배열에서나 시간이 거의 같은 것은 무엇일까요?


# %%
def milliseconds(name, length, batch, turns=40):
    inputs = keras.Input((length, d), batch_size=batch)
    model = keras.Model(inputs, make_layer(name)(inputs))
    x = random.normal(size=(batch, length, d)).astype("float32")
    model.predict_on_batch(x)  # compiles
    times = []
    for _ in range(turns):
        start = time.perf_counter()
        model.predict_on_batch(x)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)  # the turn that other programs disturbed least


arrangements = [(256, 16), (64, 64), (16, 256), (4, 1024)]
print("batch x length" + "".join(f"{name:>16}" for name in names))
by_arrangement = {name: [] for name in names}
for batch, n in arrangements:
    for name in names:
        by_arrangement[name].append(milliseconds(name, n, batch))
    row = [by_arrangement[name][-1] for name in names]
    times = "".join(f"{value:13.1f} ms" for value in row)
    print(f"{batch:5} x {n:6}{times}")

# %% tags=["plot"]
figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for name, values in by_arrangement.items():
    axes.loglog([n for _, n in arrangements], values, "o-", label=name)
axes.set_xlabel("length n of each sequence (4,096 tokens in all)")
axes.set_ylabel("milliseconds")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# <details><summary>Answer</summary>
#
# The convolution: its cost is proportional to the number of tokens, and all positions are computed at once. A recurrent layer takes $n$ steps that wait for
# each other, so four long sequences take much longer than 256 short ones. Self-attention computes all positions at once too, but it
# compares each token with all tokens of its sequence: the count grows with $n$.
#
# </details>
#
# ## Path length, measured
#
# How many layers must a signal pass from one position to another? We change one vector and look which outputs change. There are two
# ways to count:
#
# - **Both ends meet** in some unit: after how many layers does the *middle* output depend on the first and on the last input? The
#   textbook counts this way, by the receptive field of one unit.
# - **From end to end:** after how many layers does the *last* output depend on the first input?
#
# A centred kernel of size $k$ reaches $(k-1)/2$ positions to each side. So the ends meet after $(n-1)/(k-1)$ layers, and the way from end to
# end takes twice as many. Both numbers are $O(n/k)$.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 畳み込みです。コストはトークンの数に比例し、すべての位置を一度に計算できます。再帰レイヤーは前のステップを待ちながら $n$ ステップ進むので、長い系列 4 本は、短い系列 256 本よりずっと時間がかかります。自己注意もすべての位置を一度に計算しますが、各トークンを自分の系列のすべてのトークンと比べるので、回数は $n$ とともに増えます。
#
# </details>
#
# ## 経路の長さを測る
#
# ある位置から別の位置へ、信号は何層を通るのでしょうか。一つのベクトルを変えて、どの出力が変わるかを見ます。数え方は二つあります。
#
# - **両端が出会う:** *中央*の出力が、最初と最後の入力の両方に依存するまでの層の数。教科書はこの数え方です。一つのユニットの受容野で数えます。
# - **端から端まで:** *最後*の出力が、最初の入力に依存するまでの層の数。
#
# 中心を合わせたサイズ $k$ のカーネルは、左右に $(k-1)/2$ 個先まで届きます。そのため両端は $(n-1)/(k-1)$ 層で出会い、端から端まではその 2 倍の層が必要です。どちらも $O(n/k)$ です。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 합성곱입니다. 비용이 토큰 수에 비례하고 모든 위치를 한꺼번에 계산합니다. 순환 레이어는 앞 단계를 기다리며 $n$단계를 거치므로, 긴 시퀀스 4개가 짧은 시퀀스 256개보다 훨씬 오래 걸립니다. 셀프 어텐션도 모든 위치를 한꺼번에 계산하지만, 각 토큰을 자기 시퀀스의 모든 토큰과 비교하므로 횟수가 $n$과 함께 늘어납니다.
#
# </details>
#
# ## 경로 길이 재기
#
# 한 위치에서 다른 위치까지 신호는 몇 층을 지나야 할까요? 벡터 하나를 바꾸고 어느 출력이 바뀌는지 봅니다. 세는 방법은 두 가지입니다.
#
# - **양 끝이 만난다:** *가운데* 출력이 첫 입력과 마지막 입력 모두에 의존하게 되는 층 수. 교과서는 이렇게 셉니다. 유닛 하나의 수용 영역으로 세는 방법입니다.
# - **끝에서 끝까지:** *마지막* 출력이 첫 입력에 의존하게 되는 층 수.
#
# 중심을 맞춘 크기 $k$의 커널은 양쪽으로 $(k-1)/2$개 위치까지 닿습니다. 그래서 양 끝은 $(n-1)/(k-1)$층에서 만나고, 끝에서 끝까지는 그 두 배가 필요합니다. 둘 다 $O(n/k)$입니다.


# %%
def layers_needed(name, length, output, inputs, most=40):
    """Layers until `output` depends on each of `inputs`."""
    x = random.normal(size=(1, length, d)).astype("float32")
    changed = np.repeat(x, len(inputs), axis=0)
    for row, position in enumerate(inputs):
        changed[row, position] += 10
    batch = np.concatenate([x, changed])
    for number in range(1, most + 1):
        batch = convert_to_numpy(make_layer(name)(batch))
        changes = np.abs(batch[1:, output] - batch[0, output]).max(-1)
        if (changes > 0).all():
            return number
    return None


print(" " * 17 + "n   ends meet   end to end   (n - 1) / (k - 1)")
for name in ("convolution", "self-attention"):
    for n in (5, 9, 17):
        meet = layers_needed(name, n, n // 2, (0, n - 1))
        end_to_end = layers_needed(name, n, n - 1, (0,))
        formula = (n - 1) // (k - 1) if name == "convolution" else ""
        print(f"{name:14} {n:3} {meet:11} {end_to_end:12} {formula:>19}")

# %% [markdown]
# ### Which input reaches which output
#
# The change of each output position after a change of one input position, in one layer.
#
# **Predict:** which of the three pictures is a band, which a triangle, which full?

# %% [markdown] lang="ja"
# ### どの入力がどの出力に届くか
#
# 一層で、入力の位置を一つ変えたときの、各出力の位置の変化です。
#
# **予想してください:** 三つの図のうち、帯になるもの、三角形になるもの、全体が塗られるものはどれですか。

# %% [markdown] lang="ko"
# ### 어느 입력이 어느 출력에 닿는가
#
# 한 층에서 입력 위치 하나를 바꿨을 때 각 출력 위치의 변화입니다.
#
# **예상해 보세요:** 세 그림 가운데 띠, 삼각형, 전체가 칠해지는 것은 각각 무엇일까요?

# %% tags=["plot"]
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
# <details><summary>Answer</summary>
#
# The convolution is a band of width $k$. Recurrence is a triangle that fades: a state depends on all inputs before it, and each step
# weakens an old one. Self-attention is full.
#
# </details>
#
# ## Exercises
#
# ### Exercise: very long sequences
#
# Section 11.7, no. 4. What is difficult for a Transformer if a sequence has 16,384 tokens?
#
# <details><summary>Answer</summary>
#
# The number of weights: $16384^2$ = 268 million for each head and each layer, a gigabyte in float32. Time grows with the square of the length as well:
# twice the length, four times the scores. Positions are a second difficulty: a model that was trained on short sequences has not seen
# distances of 16,000 ([tutorial 3](3_positions.ipynb)). A third is the softmax over thousands of keys: small weights of many irrelevant tokens
# add up.
#
# </details>
#
# ### Exercise: cheaper attention
#
# Section 11.7, no. 5. How can time or memory be reduced?
#
# <details><summary>Answer</summary>
#
# - Compute the same result block by block and never store all weights: `MultiHeadAttention` does this by itself for long sequences.
#   Memory then grows with $n$, time still with $n^2$.
# - Attend to a window: `MultiHeadAttention(..., window=128)`. In theory this needs $128\,n$ scores; this implementation does not save time.
# - Share keys and values between heads, `num_kv_heads=1`, which makes the cache of a decoder smaller.
# - Approximate: a low-rank or kernel form of the softmax, fixed sparse patterns, keys that are chosen by hashing, or a recurrent state between
#   blocks. Tay et al., *Efficient Transformers: A Survey* (2020), orders about twenty such models.
#
# </details>
#
# ### Exercise: a wider kernel
#
# Which kernel size connects both ends of 16 tokens in one layer, in both ways of counting? What does it cost?
#
# <details><summary>Answer</summary>
#
# Size 17 for the middle output, since it must reach 8 positions to each side; size 31 from end to end, 15 positions to each side. With
# $k \approx n$ a convolution needs $O(n^2 d^2)$ multiplications: $d$ times as many as self-attention. And its weights depend on the distance alone,
# where those of attention depend on the content.
#
# </details>

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 畳み込みは幅 $k$ の帯です。再帰は、だんだん薄くなる三角形です。状態はそれまでのすべての入力に依存し、古いものはステップごとに弱まります。自己注意では全体が塗られます。
#
# </details>
#
# ## 演習
#
# ### 演習: とても長い系列
#
# （11.7 節の 4）系列が 16,384 トークンのとき、Transformer にとって何が難しいですか。
#
# <details><summary>答え</summary>
#
# 重みの数です。$16384^2$ = 2 億 6800 万個が、ヘッドごと、層ごとに必要で、float32 では 1 GB になります。時間も長さの 2 乗で増えます。長さが 2 倍になると、スコアは 4 倍です。二つ目は位置です。短い系列で学習したモデルは、16,000 も離れた距離を見たことがありません（[チュートリアル 3](3_positions.ipynb)）。三つ目は、多数のキーにわたるソフトマックスです。関係のないトークンの小さな重みが積み重なります。
#
# </details>
#
# ### 演習: 軽いアテンション
#
# （11.7 節の 5）時間やメモリはどうすれば減らせますか。
#
# <details><summary>答え</summary>
#
# - 同じ結果をブロックごとに計算し、重み全体を保存しない。`MultiHeadAttention` は長い系列では自動的にそうします。メモリは $n$ に比例しますが、時間は $n^2$ のままです。
# - 窓の中だけを参照する: `MultiHeadAttention(..., window=128)`。理論上は $128\,n$ 個のスコアで済みますが、この実装では時間は減りません。
# - ヘッドの間でキーとバリューを共有する: `num_kv_heads=1`。デコーダーのキャッシュが小さくなります。
# - 近似する。ソフトマックスの低ランク近似やカーネル近似、固定した疎なパターン、ハッシュによるキーの選択、ブロックの間の再帰状態など。Tay ほか *Efficient Transformers: A Survey*（2020）は約 20 のモデルを整理しています。
#
# </details>
#
# ### 演習: 広いカーネル
#
# 16 トークンの両端を一層でつなぐカーネルサイズはいくつですか。二つの数え方で答えてください。コストはどうなりますか。
#
# <details><summary>答え</summary>
#
# 中央の出力が左右 8 個先まで届くには、サイズ 17 が必要です。端から端まで、つまり左右 15 個先まで届くには 31 です。$k \approx n$ の畳み込みには $O(n^2 d^2)$ 回の乗算が必要で、自己注意の $d$ 倍です。また、畳み込みの重みは距離だけで決まりますが、アテンションの重みは内容で決まります。
#
# </details>

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 합성곱은 너비 $k$의 띠입니다. 순환은 점점 옅어지는 삼각형입니다. 상태는 그 앞의 모든 입력에 의존하고, 단계마다 오래된 입력의 영향이 약해집니다. 셀프 어텐션은 전체가 칠해집니다.
#
# </details>
#
# ## 연습문제
#
# ### 연습: 아주 긴 시퀀스
#
# (11.7절 4번) 시퀀스가 16,384토큰이면 트랜스포머에 무엇이 어려울까요?
#
# <details><summary>답</summary>
#
# 가중치의 수입니다. $16384^2$ = 2억 6800만 개가 헤드마다, 층마다 필요하고 float32로는 1 GB입니다. 시간도 길이의 제곱으로 늘어납니다. 길이가 두 배면 스코어는 네 배입니다. 둘째는 위치입니다. 짧은 시퀀스로 학습한 모델은 16,000만큼 떨어진 거리를 본 적이 없습니다([튜토리얼 3](3_positions.ipynb)). 셋째는 아주 많은 키에 대한 소프트맥스입니다. 관계없는 토큰의 작은 가중치가 쌓입니다.
#
# </details>
#
# ### 연습: 더 가벼운 어텐션
#
# (11.7절 5번) 시간이나 메모리를 어떻게 줄일 수 있을까요?
#
# <details><summary>답</summary>
#
# - 같은 결과를 블록마다 계산하고 가중치 전체를 저장하지 않습니다. `MultiHeadAttention`은 긴 시퀀스에서 저절로 이렇게 합니다. 메모리는 $n$에 비례하지만 시간은 여전히 $n^2$입니다.
# - 창 안만 참조합니다: `MultiHeadAttention(..., window=128)`. 이론으로는 스코어 $128\,n$개면 되지만, 이 구현에서는 시간이 줄지 않습니다.
# - 헤드끼리 키와 값을 공유합니다: `num_kv_heads=1`. 디코더의 캐시가 작아집니다.
# - 근사합니다. 소프트맥스의 저랭크 근사나 커널 근사, 고정된 희소 패턴, 해시로 고른 키, 블록 사이의 순환 상태 등입니다. Tay 등의 *Efficient Transformers: A Survey*(2020)가 스무 개쯤 되는 모델을 정리했습니다.
#
# </details>
#
# ### 연습: 넓은 커널
#
# 16토큰의 양 끝을 한 층으로 잇는 커널 크기는 얼마일까요? 두 가지 방법으로 세어 보세요. 비용은 얼마일까요?
#
# <details><summary>답</summary>
#
# 가운데 출력이 양쪽 8개 위치까지 닿으려면 크기 17이 필요합니다. 끝에서 끝까지, 곧 양쪽 15개 위치까지 닿으려면 31입니다. $k \approx n$인 합성곱에는 $O(n^2 d^2)$번의 곱셈이 필요하고, 이는 셀프 어텐션의 $d$배입니다. 또 합성곱의 가중치는 거리만으로 정해지지만 어텐션의 가중치는 내용에 따라 정해집니다.
#
# </details>

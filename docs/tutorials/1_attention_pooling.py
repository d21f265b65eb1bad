# %% [markdown]
# # 1 Attention pooling, scores and masks
#
# After this tutorial you can
#
# - explain attention as a soft dictionary of queries, keys and values, and compute its weights by hand;
# - write masked softmax, additive attention and scaled dot-product attention in about ten lines of `keras.ops` each;
# - say why scores are divided by $\sqrt{d}$, and why a hidden key has the weight 0 exactly.
#
# **Time:** 45 minutes, and as long again for the exercises. **You should know:** matrix products, shapes of NumPy arrays, the exponential function, gradients.
#
# It covers sections 11.1 to 11.3 of [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), a textbook of many courses. [Names](names.md) maps its names to those of this library, and the [glossary](../glossary.md) explains each term. Shapes use one letter per size: `B` examples, `T` queries, `S` keys, `D` numbers in a vector. All code also runs on JAX and PyTorch: set `KERAS_BACKEND` before Python starts.

# %% [markdown] lang="ja"
# # 1 アテンションプーリング、スコア、マスク
#
# このチュートリアルを終えると、次のことができるようになります。
#
# - アテンションを、クエリ・キー・バリューからなる「柔らかい辞書」として説明し、重みを手で計算する。
# - マスク付きソフトマックス、加法アテンション、スケール化内積アテンションを、それぞれ `keras.ops` の 10 行程度で書く。
# - スコアを $\sqrt{d}$ で割る理由と、マスクされたキーの重みが厳密に 0 になる理由を説明する。
#
# **所要時間:** 45 分。演習にさらに同じくらい。**前提知識:** 行列積、NumPy 配列の形状、指数関数、勾配。
#
# 多くの授業で使われている教科書 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) の 11.1〜11.3 節に対応します。教科書との名前の対応は[名前の表](../names.md)（英語）、用語の説明は[用語集](../../glossary.md)にあります。形状は、大きさごとに一文字で表します。`B` は例の数、`T` はクエリの数、`S` はキーの数、`D` はベクトルの次元です。どのコードも JAX と PyTorch で動きます。その場合は、Python を起動する前に `KERAS_BACKEND` を設定します。

# %% [markdown] lang="ko"
# # 1 어텐션 풀링, 스코어, 마스크
#
# 이 튜토리얼을 마치면 다음을 할 수 있습니다.
#
# - 어텐션을 쿼리, 키, 값으로 이루어진 "부드러운 사전"으로 설명하고 가중치를 손으로 계산한다.
# - 마스크드 소프트맥스, 가산 어텐션, 스케일드 내적 어텐션을 각각 `keras.ops` 열 줄 정도로 작성한다.
# - 스코어를 $\sqrt{d}$로 나누는 이유와 가려진 키의 가중치가 정확히 0인 이유를 설명한다.
#
# **소요 시간:** 45분, 연습 문제에 그만큼 더. **미리 알아야 할 것:** 행렬 곱, NumPy 배열의 형태(shape), 지수 함수, 기울기.
#
# 많은 수업에서 쓰는 교과서 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)의 11.1~11.3절에 해당합니다. 교과서의 이름과 여기의 이름은 [이름 대조표](../names.md)(영어)에, 용어 설명은 [용어집](../../glossary.md)에 있습니다. 형태는 크기마다 글자 하나로 씁니다. `B`는 예제 수, `T`는 쿼리 수, `S`는 키 수, `D`는 벡터의 차원입니다. 모든 코드는 JAX와 PyTorch에서도 실행됩니다. Python을 시작하기 전에 `KERAS_BACKEND`를 설정하세요.

# %%
import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(0)
np.set_printoptions(precision=3, suppress=True)
random = np.random.default_rng(3)


def agree(by_hand, of_layer):
    """Whether two tensors have the same numbers, up to rounding."""
    by_hand, of_layer = map(convert_to_numpy, (by_hand, of_layer))
    return np.allclose(by_hand, of_layer, atol=1e-5)


# %% [markdown]
# ## Queries, keys and values
#
# A Python dictionary returns the value whose key equals the query, or fails. Attention is a soft dictionary: it returns a mean of *all* values, weighted by how well each key matches the query.
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# ![A query is compared with each key; the weights that follow give a mean of the values](../pictures/soft_dictionary.svg)
#
# The weights come from *scores* $a(q, k)$, one number for each query and key. Any real numbers may be scores; *softmax* makes weights of them: take the exponential, which is positive, then divide by the sum. The highest score is subtracted first. It changes no weight, as it cancels in the division, and no exponential overflows.
#
# $$w(q, k_s) = \frac{\exp a(q, k_s)}{\sum_r \exp a(q, k_r)}$$

# %% [markdown] lang="ja"
# ## クエリ、キー、バリュー
#
# Python の辞書は、クエリと等しいキーの値を返すか、失敗します。アテンションは「柔らかい辞書」です。*すべての*バリューの平均を返し、その重みは、キーがクエリにどれだけ合うかで決まります。
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# ![クエリを各キーと比べ、得られた重みでバリューの平均を取る](../../pictures/soft_dictionary.svg)
#
# 重みは*スコア* $a(q, k)$、つまりクエリとキーの組ごとに一つの数から求めます。スコアはどんな実数でもかまいません。*ソフトマックス*がスコアを重みに変えます。指数関数で正の数にしてから、合計で割ります。先に最大のスコアを引きますが、割り算で打ち消されるので重みは変わらず、指数関数がオーバーフローしなくなります。
#
# $$w(q, k_s) = \frac{\exp a(q, k_s)}{\sum_r \exp a(q, k_r)}$$

# %% [markdown] lang="ko"
# ## 쿼리, 키, 값
#
# Python의 딕셔너리는 쿼리와 같은 키의 값을 돌려주거나 실패합니다. 어텐션은 "부드러운 사전"입니다. *모든* 값의 평균을 돌려주며, 가중치는 각 키가 쿼리와 얼마나 잘 맞는지로 정해집니다.
#
# $$\mathrm{attention}(q) = \sum_s w(q, k_s) \, v_s, \qquad w(q, k_s) \ge 0, \qquad \sum_s w(q, k_s) = 1$$
#
# ![쿼리를 각 키와 비교하고, 그 가중치로 값의 평균을 구한다](../../pictures/soft_dictionary.svg)
#
# 가중치는 *스코어* $a(q, k)$, 곧 쿼리와 키의 쌍마다 하나인 수에서 나옵니다. 스코어는 어떤 실수라도 됩니다. *소프트맥스*가 스코어를 가중치로 바꿉니다. 지수 함수로 양수를 만든 다음 합으로 나눕니다. 먼저 가장 큰 스코어를 빼는데, 나눗셈에서 상쇄되므로 가중치는 변하지 않고 지수 함수가 넘치지 않습니다.
#
# $$w(q, k_s) = \frac{\exp a(q, k_s)}{\sum_r \exp a(q, k_r)}$$


# %%
def softmax(scores):
    highest = ops.max(scores, axis=-1, keepdims=True)
    powers = ops.exp(scores - highest)
    return powers / ops.sum(powers, axis=-1, keepdims=True)


def attend(query, keys, values):
    """Attention with the dot product of query and key as score."""
    scores = ops.matmul(query, ops.swapaxes(keys, -1, -2))  # (B, T, S)
    weights = softmax(scores)
    return ops.matmul(weights, values), weights


# %% [markdown]
# **Predict before you run the next cell.** There are three keys, with the values 10, 20 and 60. The query equals the second key. What is the output, roughly, if the query is multiplied by 1, by 3, by 10? Is it ever exactly 20?

# %% [markdown] lang="ja"
# **次のセルを実行する前に予想してください。** キーは三つで、バリューは 10、20、60 です。クエリは二つ目のキーと等しいものです。クエリを 1 倍、3 倍、10 倍すると、出力はおよそいくつになるでしょうか。ちょうど 20 になることはあるでしょうか。

# %% [markdown] lang="ko"
# **다음 셀을 실행하기 전에 예상해 보세요.** 키는 세 개이고 값은 10, 20, 60입니다. 쿼리는 두 번째 키와 같습니다. 쿼리를 1배, 3배, 10배 하면 출력은 대략 얼마일까요? 정확히 20이 되는 때가 있을까요?

# %%
keys = np.array([[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]], "float32")
values = np.array([[[10.0], [20.0], [60.0]]], "float32")  # (B, S, Dv)
query = np.array([[[0.0, 1.0]]], "float32")  # (B, T, D): the second key

for factor in (1, 3, 10):
    output, weights = attend(factor * query, keys, values)
    print(
        f"query x {factor:2}: weights {convert_to_numpy(weights)[0, 0]},",
        f"output {convert_to_numpy(output)[0, 0, 0]:.3f}",
    )

# %% [markdown]
# One score is 1, the others are 0. The longer the query, the further apart are the scores, and the more the soft dictionary acts like an exact one. A weight never becomes 0 in exact arithmetic, so the output only comes close to 20.
#
# The layer computes the same. Each layer of this library takes `(query, key, value)` and returns the weights too if asked:

# %% [markdown] lang="ja"
# 一つのスコアが 1、ほかは 0 です。クエリのノルムが大きいほどスコアの差が開き、「柔らかい辞書」は普通の辞書に近づきます。正確な計算では重みは 0 にならないので、出力は 20 に近づくだけです。
#
# レイヤーの計算も同じです。このライブラリのどのレイヤーも `(query, key, value)` を受け取り、指定すれば重みも返します。

# %% [markdown] lang="ko"
# 한 스코어는 1이고 나머지는 0입니다. 쿼리의 노름이 클수록 스코어 차이가 벌어지고, 부드러운 사전은 보통의 사전에 가까워집니다. 정확한 계산에서 가중치는 0이 되지 않으므로 출력은 20에 가까워질 뿐입니다.
#
# 레이어도 같은 계산을 합니다. 이 라이브러리의 모든 레이어는 `(query, key, value)`를 받고, 요청하면 가중치도 돌려줍니다.

# %%
attention = keras_attn.DotProductAttention(scale=False)
of_layer = attention(10 * query, keys, values, return_attention_scores=True)
assert agree(output, of_layer[0]) and agree(weights, of_layer[1])

# %% [markdown]
# ### Exercises of section 11.1
#
# **1.** A database should return records whose key is *about* the query. Which attention would you take for that?
#
# <details><summary>Answer</summary>
#
# One whose score falls with the distance and has a width to set: the Gaussian kernel of the next section. For a hard limit, hide all keys farther than a distance with a mask. If records that are far must never be returned, the mask is needed: softmax alone gives each key some weight.
#
# </details>
#
# **2.** Let the values be the keys, $v_s = k_s$, the score the dot product, and $p$ the softmax weights of a query. Show that the gradient of the output with respect to the query is the covariance matrix of the keys under $p$.
#
# <details><summary>Answer</summary>
#
# The derivative of a softmax weight is $\partial p_s / \partial q = p_s (k_s - \bar k)$ with the mean $\bar k = \sum_r p_r k_r$: the first part comes from the numerator, the second from the sum in the denominator. So $\partial / \partial q \sum_s p_s k_s = \sum_s p_s k_s (k_s - \bar k)^\top = \sum_s p_s (k_s - \bar k)(k_s - \bar k)^\top$, as $\sum_s p_s \bar k (k_s - \bar k)^\top = 0$. In words: the output reacts to the query in those directions in which the attended keys still differ. A saturated softmax attends to one key, its covariance is 0, and so is the gradient. The code below compares with small differences.
#
# </details>
#
# **3.** Sketch a search engine that can be trained by gradient descent.
#
# <details><summary>Answer</summary>
#
# A network turns each document into a key and a value, another one turns the question into a query. The score is the dot product of query and key, softmax gives each document a probability, and the loss is minus the logarithm of the probability of the document that a person chose. All of it is differentiable, so both networks learn together. With millions of documents, softmax runs over the best hundred of an approximate nearest-neighbour search.
#
# </details>
#
# **4.** A squeeze-and-excitation network computes the mean of each channel of an image, feeds the means to a small network with a sigmoid at the end, and multiplies each channel by the result. In which sense is this attention?
#
# <details><summary>Answer</summary>
#
# The values are the channels. Their importance depends on the input, as attention weights do. Three things differ: there is one query only, the image as a whole, hidden in the small network; the keys are weights of this network, thus constant; and a sigmoid replaces softmax, so the weights need not add up to 1 and the channels are scaled rather than summed.
#
# </details>

# %% [markdown] lang="ja"
# ### 11.1 節の演習
#
# **1.** キーがクエリに*だいたい*等しいレコードを返すデータベースを作るには、どのアテンションを使いますか。
#
# <details><summary>解答</summary>
#
# 距離とともにスコアが下がり、幅を設定できるもの、つまり次の節のガウスカーネルです。はっきりした限界を設けるには、ある距離より遠いキーをマスクします。遠いレコードを決して返してはならないなら、マスクが必要です。ソフトマックスだけでは、どのキーにもいくらかの重みが付きます。
#
# </details>
#
# **2.** バリューがキーそのもの（$v_s = k_s$）で、スコアが内積、$p$ があるクエリのソフトマックスの重みだとします。出力のクエリに関する勾配が、$p$ のもとでのキーの共分散行列になることを示してください。
#
# <details><summary>解答</summary>
#
# 平均を $\bar k = \sum_r p_r k_r$ とすると、ソフトマックスの重みの微分は $\partial p_s / \partial q = p_s (k_s - \bar k)$ です。第 1 項は分子から、第 2 項は分母の和から来ます。したがって $\partial / \partial q \sum_s p_s k_s = \sum_s p_s k_s (k_s - \bar k)^\top = \sum_s p_s (k_s - \bar k)(k_s - \bar k)^\top$ です。最後の等号は $\sum_s p_s \bar k (k_s - \bar k)^\top = 0$ によります。つまり、注目しているキーがまだ異なっている方向にだけ、出力はクエリに反応します。飽和したソフトマックスは一つのキーだけに注目するので、共分散も勾配も 0 です。下のコードは、差分による微分と比べます。
#
# </details>
#
# **3.** 勾配降下法で学習できる検索エンジンを設計してください。
#
# <details><summary>解答</summary>
#
# 一つのネットワークが文書をキーとバリューに、もう一つが質問をクエリに変えます。スコアはクエリとキーの内積で、ソフトマックスが各文書の確率を与えます。損失は、人が選んだ文書の確率の対数に負号を付けたものです。すべて微分できるので、二つのネットワークは一緒に学習します。文書が何百万もあるときは、近似最近傍探索で得た上位 100 件だけでソフトマックスを計算します。
#
# </details>
#
# **4.** Squeeze-and-Excitation ネットワークは、画像のチャネルごとの平均を求め、最後がシグモイドの小さなネットワークに入れ、その結果を各チャネルに掛けます。これはどのような意味でアテンションですか。
#
# <details><summary>解答</summary>
#
# バリューはチャネルです。その重要度は、アテンションの重みと同じく入力によって決まります。違いは三つあります。クエリは画像全体の一つだけで、小さなネットワークの中に隠れています。キーはこのネットワークの重みなので、定数です。ソフトマックスの代わりにシグモイドを使うので、重みの合計は 1 とは限らず、チャネルは足し合わされずに拡大・縮小されます。
#
# </details>

# %% [markdown] lang="ko"
# ### 11.1절의 연습 문제
#
# **1.** 키가 쿼리와 *대략* 같은 레코드를 돌려주는 데이터베이스에는 어떤 어텐션을 쓰겠습니까?
#
# <details><summary>답</summary>
#
# 거리에 따라 스코어가 낮아지고 폭을 정할 수 있는 것, 곧 다음 절의 가우스 커널입니다. 분명한 한계를 두려면 어떤 거리보다 먼 키를 마스크로 가립니다. 먼 레코드를 절대로 돌려주면 안 된다면 마스크가 필요합니다. 소프트맥스만으로는 모든 키에 조금이라도 가중치가 붙습니다.
#
# </details>
#
# **2.** 값이 키와 같고($v_s = k_s$) 스코어가 내적이며 $p$가 어떤 쿼리의 소프트맥스 가중치라고 합시다. 출력의 쿼리에 대한 기울기가 $p$ 아래에서 키의 공분산 행렬임을 보이세요.
#
# <details><summary>답</summary>
#
# 평균을 $\bar k = \sum_r p_r k_r$라고 하면 소프트맥스 가중치의 미분은 $\partial p_s / \partial q = p_s (k_s - \bar k)$입니다. 첫 항은 분자에서, 둘째 항은 분모의 합에서 나옵니다. 따라서 $\partial / \partial q \sum_s p_s k_s = \sum_s p_s k_s (k_s - \bar k)^\top = \sum_s p_s (k_s - \bar k)(k_s - \bar k)^\top$입니다. 마지막 등호는 $\sum_s p_s \bar k (k_s - \bar k)^\top = 0$이기 때문입니다. 곧 참조하는 키들이 아직 서로 다른 방향으로만 출력이 쿼리에 반응합니다. 포화된 소프트맥스는 키 하나만 참조하므로 공분산도 기울기도 0입니다. 아래 코드는 차분으로 구한 미분과 비교합니다.
#
# </details>
#
# **3.** 경사 하강법으로 학습할 수 있는 검색 엔진을 설계해 보세요.
#
# <details><summary>답</summary>
#
# 한 신경망은 문서를 키와 값으로, 다른 신경망은 질문을 쿼리로 바꿉니다. 스코어는 쿼리와 키의 내적이고, 소프트맥스가 각 문서의 확률을 줍니다. 손실은 사람이 고른 문서의 확률의 로그에 음의 부호를 붙인 것입니다. 모두 미분할 수 있으므로 두 신경망이 함께 학습합니다. 문서가 수백만 개라면 근사 최근접 탐색으로 찾은 상위 100개에서만 소프트맥스를 계산합니다.
#
# </details>
#
# **4.** Squeeze-and-Excitation 네트워크는 이미지의 채널마다 평균을 구하고, 끝이 시그모이드인 작은 신경망에 넣은 다음, 그 결과를 각 채널에 곱합니다. 이것은 어떤 뜻에서 어텐션일까요?
#
# <details><summary>답</summary>
#
# 값은 채널입니다. 채널의 중요도는 어텐션 가중치처럼 입력에 따라 정해집니다. 다른 점은 세 가지입니다. 쿼리는 이미지 전체 하나뿐이며 작은 신경망 안에 숨어 있습니다. 키는 그 신경망의 가중치이므로 상수입니다. 소프트맥스 대신 시그모이드를 쓰므로 가중치의 합이 1이 아니어도 되고, 채널은 더해지지 않고 크기만 바뀝니다.
#
# </details>

# %% tags=["answer"]
# Exercise 2: gradient by small differences, and covariance of the keys.
some_keys = random.normal(size=(1, 6, 3))
some_query = random.normal(size=(1, 1, 3))


def output_of(query):
    output, weights = attend(query, some_keys, some_keys)
    return convert_to_numpy(output)[0, 0], convert_to_numpy(weights)[0, 0]


_, p = output_of(some_query)
centred = some_keys[0] - p @ some_keys[0]
covariance = centred.T @ (p[:, None] * centred)
step = 1e-3 * np.eye(3)
gradient = [
    (output_of(some_query + d)[0] - output_of(some_query - d)[0]) / 2e-3
    for d in step
]
print(covariance)
assert np.allclose(gradient, covariance, atol=1e-3)

# %% [markdown]
# ## Nadaraya–Watson regression
#
# Kernel regression from 1964 is attention: the keys are the inputs of the training data, the values are the outputs, and a query is an input whose output we want. The score is the negative squared distance, divided by twice the squared *bandwidth* $h$:
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# By hand it takes three lines, and `GaussianKernelAttention` is the same as a layer. The data are 40 noisy points of a curve.

# %% [markdown] lang="ja"
# ## Nadaraya–Watson 回帰
#
# 1964 年のカーネル回帰はアテンションそのものです。キーは学習データの入力、バリューはその出力、クエリは出力を知りたい入力です。スコアは、距離の 2 乗に負号を付け、*バンド幅* $h$ の 2 乗の 2 倍で割ったものです。
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# 手で書いても 3 行で、`GaussianKernelAttention` は同じ計算をするレイヤーです。データは、曲線にノイズを加えた 40 点です。

# %% [markdown] lang="ko"
# ## Nadaraya–Watson 회귀
#
# 1964년의 커널 회귀가 바로 어텐션입니다. 키는 학습 데이터의 입력, 값은 그 출력, 쿼리는 출력을 알고 싶은 입력입니다. 스코어는 거리의 제곱에 음의 부호를 붙이고 *대역폭* $h$의 제곱의 두 배로 나눈 것입니다.
#
# $$a(q, k) = -\frac{(q - k)^2}{2 h^2}$$
#
# 손으로 써도 세 줄이며, `GaussianKernelAttention`은 같은 계산을 하는 레이어입니다. 데이터는 곡선에 잡음을 더한 점 40개입니다.


# %%
def true_curve(x):
    return 3 * np.sin(1.5 * x) * np.exp(-x / 4)


inputs = np.sort(random.uniform(0, 6, 40))
outputs = true_curve(inputs) + random.normal(scale=0.4, size=40)
places = np.linspace(0, 6, 60)  # the queries


def kernel_regression(queries, keys, values, bandwidth):
    distances = queries[:, None] - keys[None]  # (T, S)
    weights = softmax(-(distances**2) / (2 * bandwidth**2))
    return ops.matmul(weights, values), weights


def column(x):
    """Batch of one example, vectors of one number: (1, len(x), 1)."""
    return x[None, :, None]


curves, maps = {}, {}
for bandwidth in (0.05, 0.3, 2.0):
    curve, weights = kernel_regression(places, inputs, outputs, bandwidth)
    layer = keras_attn.GaussianKernelAttention(bandwidth)
    of_layer = layer(column(places), column(inputs), column(outputs))
    assert agree(curve, of_layer[0, :, 0])
    curves[bandwidth] = convert_to_numpy(curve)
    maps[bandwidth] = convert_to_numpy(weights)

# %% tags=["plot"]
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
# Rows are queries and columns are keys, both from left to right on the x-axis. A small bandwidth attends to the nearest point only and follows the noise. A large bandwidth attends to nearly all points and returns nearly their mean. In between, the weights form a band.

# %% [markdown] lang="ja"
# ### 回帰の重み
#
# 行がクエリ、列がキーで、どちらも x の小さい順に並んでいます。バンド幅が小さいと最も近い点だけに注目し、曲線はノイズをなぞります。大きいとほぼすべての点に注目し、ほぼ平均値になります。その間では、重みは帯の形になります。

# %% [markdown] lang="ko"
# ### 회귀의 가중치
#
# 행은 쿼리, 열은 키이며 둘 다 x가 작은 것부터 놓여 있습니다. 대역폭이 작으면 가장 가까운 점에만 주의를 기울여 잡음을 따라갑니다. 크면 거의 모든 점에 주의를 기울여 평균에 가까운 값이 됩니다. 그 사이에서는 가중치가 띠 모양이 됩니다.

# %% tags=["plot"]
figure = Figure((9, 3), layout="constrained")
panels = figure.subplots(1, 3)
for axes, (bandwidth, weights) in zip(panels, maps.items(), strict=True):
    image = axes.imshow(weights, "Reds", vmin=0, aspect="auto")
    title = f"h = {bandwidth}, largest weight {weights.max():.2f}"
    axes.set_title(title, fontsize=10)
    axes.set_xlabel("keys")
    figure.colorbar(image, ax=axes)
panels[0].set_ylabel("queries")
figure

# %% [markdown]
# ### Exercise: classification by densities
#
# A density estimate with a kernel is the mean of kernels around the data, $\hat p(x) = \frac{1}{n} \sum_i k(x, x_i)$. Labels are $y_i = 1$ or $y_i = -1$. Show that deciding by the sign of $\hat p(x, y{=}1) - \hat p(x, y{=}{-1})$ is the same as deciding by the sign of the Nadaraya–Watson regression of the labels.
#
# <details><summary>Answer</summary>
#
# The joint density counts the points of one label: $\hat p(x, y) = \frac{1}{n} \sum_{i: y_i = y} k(x, x_i)$. The difference is thus $\frac{1}{n} \sum_i y_i \, k(x, x_i)$. The regression is $\sum_i y_i \, k(x, x_i) / \sum_i k(x, x_i)$, the same number divided by $\hat p(x) > 0$, so both have one sign.
#
# </details>
#
# ### Exercise: learn the bandwidth
#
# Learn $h$ by gradient descent on the squared error of the training data. What goes wrong if you do just that? What changes if each point is left out of its own estimate? Do you still see overfitting?
#
# <details><summary>Answer</summary>
#
# Each training input is also a key. With $h \to 0$ each point attends to itself alone and the error is 0: gradient descent makes $h$ ever smaller, and the curve jumps from point to point. *Leaving one out* mends this: a mask hides each point from its own query. A mask is boolean, and True means that the query attends to the key. The error then has its minimum at a useful bandwidth. With one parameter and 40 points little is left to overfit; with a bandwidth for each key there would be.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: 密度による分類
#
# カーネルによる密度推定は、データのまわりのカーネルの平均 $\hat p(x) = \frac{1}{n} \sum_i k(x, x_i)$ です。ラベルは $y_i = 1$ か $y_i = -1$ です。$\hat p(x, y{=}1) - \hat p(x, y{=}{-1})$ の符号で分類することと、ラベルの Nadaraya–Watson 回帰の符号で分類することが同じであると示してください。
#
# <details><summary>解答</summary>
#
# 同時密度は、一つのラベルの点だけを数えたもの、$\hat p(x, y) = \frac{1}{n} \sum_{i: y_i = y} k(x, x_i)$ です。したがって差は $\frac{1}{n} \sum_i y_i \, k(x, x_i)$ です。回帰は $\sum_i y_i \, k(x, x_i) / \sum_i k(x, x_i)$、つまり同じ数を $\hat p(x) > 0$ に比例する数で割ったものなので、符号は同じです。
#
# </details>
#
# ### 演習: バンド幅を学習する
#
# 学習データの二乗誤差に対する勾配降下法で $h$ を学習してください。そのまま行うと何が問題でしょうか。各点を自分自身の推定から除くと、どう変わるでしょうか。それでも過学習は起きるでしょうか。
#
# <details><summary>解答</summary>
#
# 学習データの各入力はキーでもあります。$h \to 0$ では、どの点も自分自身だけに注目し、誤差は 0 になります。勾配降下法は $h$ を小さくし続け、曲線は点から点へ飛び移るようになります。*一つ抜き交差検証*（leave-one-out）で解決します。マスクで、各点を自分のクエリから隠します。マスクはブール値で、True は参照してよいキーを表します。すると誤差は、役に立つバンド幅で最小になります。パラメータ一つに対して点が 40 個あるので、過学習の余地はほとんどありません。キーごとにバンド幅を持たせると、余地が生まれます。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 밀도로 분류하기
#
# 커널 밀도 추정은 데이터 주변에 놓은 커널의 평균 $\hat p(x) = \frac{1}{n} \sum_i k(x, x_i)$입니다. 레이블은 $y_i = 1$ 또는 $y_i = -1$입니다. $\hat p(x, y{=}1) - \hat p(x, y{=}{-1})$의 부호로 분류하는 것과 레이블의 Nadaraya–Watson 회귀의 부호로 분류하는 것이 같음을 보이세요.
#
# <details><summary>답</summary>
#
# 결합 밀도는 한 레이블의 점만 센 것, $\hat p(x, y) = \frac{1}{n} \sum_{i: y_i = y} k(x, x_i)$입니다. 따라서 차이는 $\frac{1}{n} \sum_i y_i \, k(x, x_i)$입니다. 회귀는 $\sum_i y_i \, k(x, x_i) / \sum_i k(x, x_i)$, 곧 같은 수를 $\hat p(x) > 0$에 비례하는 수로 나눈 것이므로 부호가 같습니다.
#
# </details>
#
# ### 연습: 대역폭 학습하기
#
# 학습 데이터의 제곱 오차를 경사 하강법으로 줄여 $h$를 학습하세요. 그대로 하면 무엇이 잘못될까요? 각 점을 자기 자신의 추정에서 빼면 무엇이 달라질까요? 그래도 과적합이 보일까요?
#
# <details><summary>답</summary>
#
# 학습 데이터의 입력은 모두 키이기도 합니다. $h \to 0$이면 각 점이 자신만 참조하고 오차는 0이 됩니다. 경사 하강법은 $h$를 계속 줄이고, 곡선은 점에서 점으로 뜁니다. *단일 관측값 제거*(leave-one-out)로 해결합니다. 마스크로 각 점을 자기 쿼리에서 가립니다. 마스크는 불리언이며 True는 참조할 수 있는 키를 나타냅니다. 그러면 오차는 쓸모 있는 대역폭에서 최소가 됩니다. 매개변수 하나에 점이 40개이므로 과적합할 여지가 거의 없습니다. 키마다 대역폭을 두면 여지가 생깁니다.
#
# </details>


# %% tags=["answer"]
def learn_bandwidth(mask):
    """Bandwidth before and after 200 steps of gradient descent."""
    layer = keras_attn.GaussianKernelAttention(0.5, trainable=True)
    x, y = keras.Input((40, 1)), keras.Input((40, 1))
    model = keras.Model([x, y], layer(x, x, y, attention_mask=mask))
    model.compile(keras.optimizers.SGD(0.2), "mse")
    data = [column(inputs), column(outputs)]
    history = model.fit(data, column(outputs), epochs=200, verbose=0)
    return np.exp(layer.get_weights()[0]), history.history["loss"][-1]


others = ~np.eye(40, dtype=bool)[None]  # (1, T, S): all but the query
everyone = np.ones_like(others)
for name, mask in (("all points", everyone), ("one left out", others)):
    h, loss = learn_bandwidth(mask)
    print(f"{name:12}: bandwidth 0.5 becomes {h:.2f}, error {loss:.3f}")


# %% tags=["plot"]
def error(bandwidth, mask):
    layer = keras_attn.GaussianKernelAttention(bandwidth)
    x, y = column(inputs), column(outputs)
    found = convert_to_numpy(layer(x, x, y, attention_mask=mask))
    return float(np.mean((found - y) ** 2))


tried = np.geomspace(0.02, 3, 30)
figure = Figure((6, 3), layout="constrained")
axes = figure.subplots()
for name, mask in (("all points", everyone), ("one left out", others)):
    axes.semilogx(tried, [error(h, mask) for h in tried], label=name)
axes.set_xlabel("bandwidth h")
axes.set_ylabel("mean squared error")
axes.legend(frameon=False)
figure

# %% [markdown]
# ### Exercise: keys of length 1
#
# All vectors have length 1. Simplify $|q - k|^2$ in the Gaussian kernel. Which attention is it?
#
# <details><summary>Answer</summary>
#
# $|q - k|^2 = |q|^2 - 2 \, q \cdot k + |k|^2 = 2 - 2 \, q \cdot k$. The 2 is the same for every key, and softmax ignores what all scores share. So a Gaussian kernel on the unit sphere is dot-product attention, with $1/h^2$ as its scale.
#
# </details>
#
# ### Exercise: more data, smaller bandwidth
#
# Nadaraya–Watson regression comes as close to the true curve as you like, if the number of points $n$ grows and $h$ shrinks. How fast may $h$ shrink, and how does this depend on the number of dimensions $d$?
#
# <details><summary>Answer</summary>
#
# Two errors balance. A wide kernel mixes values from farther away: this error grows like $h^2$ for a smooth curve (its slope cancels between left and right). A narrow kernel has few neighbours to average: about $n h^d$ points lie within reach, so the error from noise is of size $1 / \sqrt{n h^d}$. Both go to 0 if $h \to 0$ and $n h^d \to \infty$. They are of equal size for $h \propto n^{-1/(d+4)}$. In one dimension, 32 times as many points halve the bandwidth; in 12 dimensions it takes 65,536 times as many. This is why kernels on raw high-dimensional inputs work badly, and why attention learns a projection in which near means similar.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: ノルムが 1 のキー
#
# すべてのベクトルのノルムが 1 だとします。ガウスカーネルの $|q - k|^2$ を簡単にしてください。どのアテンションになるでしょうか。
#
# <details><summary>解答</summary>
#
# $|q - k|^2 = |q|^2 - 2 \, q \cdot k + |k|^2 = 2 - 2 \, q \cdot k$ です。2 はどのキーでも同じで、ソフトマックスは全スコアに共通の値を無視します。つまり単位球面上のガウスカーネルは、$1/h^2$ をスケールとする内積アテンションです。
#
# </details>
#
# ### 演習: データが増えるとバンド幅は小さく
#
# 点の数 $n$ が増え、$h$ が小さくなれば、Nadaraya–Watson 回帰は真の曲線にいくらでも近づきます。$h$ はどのくらい速く小さくしてよいでしょうか。それは次元 $d$ にどう依存するでしょうか。
#
# <details><summary>解答</summary>
#
# 二つの誤差が釣り合います。広いカーネルは遠くの値を混ぜます。滑らかな曲線では傾きの影響が左右で打ち消し合うので、この誤差は $h^2$ に比例します。狭いカーネルには平均する近傍が少ししかありません。届く範囲の点はおよそ $n h^d$ 個なので、ノイズによる誤差は $1 / \sqrt{n h^d}$ の大きさです。$h \to 0$ かつ $n h^d \to \infty$ なら、どちらも 0 に近づきます。両者が等しくなるのは $h \propto n^{-1/(d+4)}$ のときです。1 次元では点が 32 倍になるとバンド幅は半分、12 次元では 65,536 倍の点が必要です。高次元の生の入力でカーネルがうまく働かず、近さが類似を表すような射影をアテンションが学習するのは、このためです。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 노름이 1인 키
#
# 모든 벡터의 노름이 1이라고 합시다. 가우스 커널의 $|q - k|^2$를 간단히 하세요. 어떤 어텐션이 됩니까?
#
# <details><summary>답</summary>
#
# $|q - k|^2 = |q|^2 - 2 \, q \cdot k + |k|^2 = 2 - 2 \, q \cdot k$입니다. 2는 모든 키에서 같고, 소프트맥스는 모든 스코어에 공통인 값을 무시합니다. 그래서 단위구 위의 가우스 커널은 $1/h^2$를 스케일로 하는 내적 어텐션입니다.
#
# </details>
#
# ### 연습: 데이터가 늘면 대역폭은 작게
#
# 점의 수 $n$이 늘고 $h$가 작아지면 Nadaraya–Watson 회귀는 참 곡선에 얼마든지 가까워집니다. $h$를 얼마나 빨리 줄여도 될까요? 차원 $d$와는 어떤 관계가 있을까요?
#
# <details><summary>답</summary>
#
# 두 오차가 균형을 이룹니다. 넓은 커널은 먼 곳의 값을 섞습니다. 매끄러운 곡선에서는 기울기의 영향이 좌우에서 상쇄되므로 이 오차는 $h^2$에 비례합니다. 좁은 커널에는 평균을 낼 이웃이 적습니다. 닿는 범위의 점이 약 $n h^d$개이므로 잡음에 의한 오차는 $1 / \sqrt{n h^d}$ 정도입니다. $h \to 0$이면서 $n h^d \to \infty$이면 둘 다 0에 가까워집니다. 둘이 같아지는 것은 $h \propto n^{-1/(d+4)}$일 때입니다. 1차원에서는 점이 32배가 되면 대역폭이 절반이 되고, 12차원에서는 65,536배가 필요합니다. 고차원의 원래 입력에서 커널이 잘 작동하지 않고, 가까움이 비슷함을 뜻하는 투영을 어텐션이 학습하는 까닭입니다.
#
# </details>

# %% tags=["answer"]
# Keys of length 1: both attentions have the same weights.
angles = random.uniform(0, 2 * np.pi, (2, 1, 5))
q, k = np.stack([np.cos(angles), np.sin(angles)], -1)
h = 0.7
kernel = keras_attn.GaussianKernelAttention(h)
product = keras_attn.DotProductAttention(scale=False)
_, gaussian = kernel(q, k, return_attention_scores=True)
_, dot = product(q / h**2, k, return_attention_scores=True)
assert agree(gaussian, dot)

# %% [markdown]
# ## Masked softmax with its numbers
#
# Sentences in a batch have different lengths; shorter ones are filled up with padding. No query may attend to padding. *Valid lengths* say how many keys, counted from the first, are real; compared with the numbers of the keys, they become a mask.
#
# Textbooks often write: "set the score of a hidden key to minus infinity", as $\exp(-\infty) = 0$. On paper this is right. In code, a row in which *all* keys are hidden becomes $\infty - \infty$, which is NaN, and one NaN spoils the whole training step. Another common way fills in a large negative number such as -1e6. It has three faults:
#
# - a row without keys gets equal weights: the query attends to padding, and nobody notices;
# - float16 ends at -65,504, so -1e6 is minus infinity again;
# - real scores may be lower still, and then the hidden key wins.
#
# So we fill in the lowest number and multiply with the mask once more:
#
# <!-- live: mask -->

# %% [markdown] lang="ja"
# ## マスク付きソフトマックスを数で見る
#
# バッチの中の文は長さが違い、短い文はパディングで埋められます。クエリはパディングを参照してはいけません。*有効長*は、先頭から何個のキーが本物かを表します。キーの番号と比べると、マスクになります。
#
# 教科書にはよく「隠すキーのスコアをマイナス無限大にする」と書かれています。$\exp(-\infty) = 0$ だからです。紙の上では正しいのですが、コードでは、*すべての*キーが隠された行が $\infty - \infty$、つまり NaN になります。NaN が一つあれば、学習の 1 ステップ全体が壊れます。-1e6 のような大きな負の数を入れる方法もよく使われますが、欠点が三つあります。
#
# - キーのない行の重みが均等になります。クエリがパディングを参照していることに、誰も気付きません。
# - float16 の下限は -65,504 なので、-1e6 は結局マイナス無限大です。
# - 本物のスコアがさらに低いこともあり、そのときは隠したキーが勝ってしまいます。
#
# そこで、最も小さい数を入れ、最後にもう一度マスクを掛けます。
#
# <!-- live: mask -->

# %% [markdown] lang="ko"
# ## 숫자로 보는 마스크드 소프트맥스
#
# 배치 안의 문장은 길이가 다르고, 짧은 문장은 패딩으로 채웁니다. 쿼리는 패딩을 참조하면 안 됩니다. *유효 길이*는 처음부터 몇 개의 키가 진짜인지를 나타냅니다. 키의 번호와 비교하면 마스크가 됩니다.
#
# 교과서에는 흔히 "가릴 키의 스코어를 마이너스 무한대로 둔다"고 나옵니다. $\exp(-\infty) = 0$이기 때문입니다. 종이 위에서는 맞습니다. 코드에서는 *모든* 키가 가려진 행이 $\infty - \infty$, 곧 NaN이 되고, NaN 하나가 학습 한 단계를 망칩니다. -1e6 같은 큰 음수를 넣는 방법도 흔하지만 결점이 세 가지 있습니다.
#
# - 키가 없는 행의 가중치가 모두 같아집니다. 쿼리가 패딩을 참조하는데 아무도 알아차리지 못합니다.
# - float16은 -65,504에서 끝나므로 -1e6은 다시 마이너스 무한대입니다.
# - 진짜 스코어가 더 낮을 수도 있고, 그러면 가린 키가 이깁니다.
#
# 그래서 가장 작은 수를 넣고, 끝에서 마스크를 한 번 더 곱합니다.
#
# <!-- live: mask -->


# %%
def length_mask(valid_lens, num_keys):
    """True for real keys: (B,) lengths to (B, 1, S)."""
    limits = ops.reshape(valid_lens, (-1, 1, 1))
    return ops.less(ops.arange(num_keys), limits)


def masked_softmax(scores, mask):
    lowest = float(np.finfo("float32").min)
    scores = ops.where(mask, scores, lowest)
    highest = ops.max(scores, axis=-1, keepdims=True)
    powers = ops.exp(scores - highest) * ops.cast(mask, "float32")
    total = ops.sum(powers, axis=-1, keepdims=True)
    return powers / ops.where(total > 0, total, 1.0)  # no division by 0


# %% [markdown]
# **Predict.** The scores of a query are 1, 2, 3, 4. What are the weights if 4, 2 or 0 keys are valid? Two of the answers you can compute in your head from $e \approx 2.7$.

# %% [markdown] lang="ja"
# **予想してください。** あるクエリのスコアは 1、2、3、4 です。有効なキーが 4 個、2 個、0 個のとき、重みはいくつでしょうか。二つは $e \approx 2.7$ から暗算できます。

# %% [markdown] lang="ko"
# **예상해 보세요.** 한 쿼리의 스코어가 1, 2, 3, 4입니다. 유효한 키가 4개, 2개, 0개일 때 가중치는 얼마일까요? 둘은 $e \approx 2.7$로 암산할 수 있습니다.

# %%
batch = np.tile(np.array([1.0, 2.0, 3.0, 4.0], "float32"), (3, 1, 1))
valid_lens = np.array([4, 2, 0])  # of three examples with one query each
mask = length_mask(valid_lens, num_keys=4)

ways = {
    "minus infinity": softmax(ops.where(mask, batch, -np.inf)),
    "-1e6": softmax(ops.where(mask, batch, -1e6)),
    "lowest, and the mask": masked_softmax(batch, mask),
}
for name, weights in ways.items():
    print(name)
    for length, row in zip(valid_lens, weights, strict=True):
        print(f"   {length} valid  ", convert_to_numpy(row)[0])

of_layer = keras_attn.masked_softmax(batch, valid_lens)
assert agree(ways["lowest, and the mask"], of_layer)

# %% [markdown]
# Two things to notice:
#
# - The weight of a hidden key is exactly 0, not "small". In the layers, padding cannot reach the output even if it is NaN.
# - A query with no key left gets weights 0, not NaN and not equal weights.
#
# Valid lengths of shape `(B, T)` give each query a limit of its own:

# %% [markdown] lang="ja"
# 注目する点が二つあります。
#
# - 隠されたキーの重みは「小さい」のではなく、厳密に 0 です。レイヤーでは、パディングが NaN であっても出力には届きません。
# - キーが一つも残らないクエリの重みは 0 です。NaN でも均等でもありません。
#
# 形状 `(B, T)` の有効長を渡すと、クエリごとに上限を変えられます。

# %% [markdown] lang="ko"
# 눈여겨볼 점이 두 가지 있습니다.
#
# - 가려진 키의 가중치는 "작은" 것이 아니라 정확히 0입니다. 레이어에서는 패딩이 NaN이라도 출력에 닿지 않습니다.
# - 키가 하나도 남지 않은 쿼리의 가중치는 NaN도 균등한 값도 아닌 0입니다.
#
# 형태가 `(B, T)`인 유효 길이를 주면 쿼리마다 한계를 다르게 할 수 있습니다.

# %%
scores = random.normal(size=(2, 2, 4))
for lengths in ([2, 3], [[1, 3], [2, 4]]):
    print("valid lengths", lengths)
    weights = keras_attn.masked_softmax(scores, np.array(lengths))
    print(convert_to_numpy(weights))

# %% [markdown]
# ## Scores one by one
#
# A score measures how well a query and a key match. From here on, queries and keys may be vectors, and a layer differs from another by its score alone.
#
# ![Scores become weights by softmax, weights become a sum of values](../pictures/scores_to_sum.svg)
#
# | layer | score | weights to learn |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | none |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | none |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | $h$, if you want |
# | `BilinearAttention()` | $q^\top W k$ | $W$ |
# | `AdditiveAttention(num_hiddens)` | $w^\top \tanh(W_q q + W_k k)$ | $w, W_q, W_k$ |
#
# **Scaled dot product.** For all queries and keys at once it is one matrix product, and the whole attention is
#
# $$\mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad\text{with}\quad Q: T \times d, \quad K: S \times d, \quad V: S \times v$$
#
# **Additive attention** works for queries and keys of different sizes. Project both to $n$ numbers, add, apply $\tanh$, and take the dot product with a vector $w$. It is a small network with one hidden layer whose input is $q$ and $k$, one after the other: the matrix $[W_q \; W_k]$ times the joined vector is $W_q q + W_k k$. The sum form projects each query and key once instead of once per pair.
#
# <!-- live: dot -->

# %% [markdown] lang="ja"
# ## スコアを一つずつ
#
# スコアは、クエリとキーがどれだけ合うかを測ります。ここからはクエリもキーもベクトルで、レイヤーの違いはスコアだけです。
#
# ![スコアはソフトマックスで重みになり、重みでバリューの和を取る](../../pictures/scores_to_sum.svg)
#
# | レイヤー | スコア | 学習する重み |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | なし |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | なし |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | 望むなら $h$ |
# | `BilinearAttention()` | $q^\top W k$ | $W$ |
# | `AdditiveAttention(num_hiddens)` | $w^\top \tanh(W_q q + W_k k)$ | $w, W_q, W_k$ |
#
# **スケール化内積。** すべてのクエリとキーのスコアを一つの行列積で計算でき、アテンション全体は次の式になります。
#
# $$\mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad Q: T \times d, \quad K: S \times d, \quad V: S \times v$$
#
# **加法アテンション**は、クエリとキーの次元が違っても使えます。両方を $n$ 次元に射影して足し、$\tanh$ を適用し、ベクトル $w$ との内積を取ります。これは、$q$ と $k$ を連結したものを入力とする、隠れ層が一つの小さなネットワークです。行列 $[W_q \; W_k]$ と連結したベクトルの積は $W_q q + W_k k$ だからです。和の形なら、射影は組ごとではなく、クエリとキーごとに一度で済みます。
#
# <!-- live: dot -->

# %% [markdown] lang="ko"
# ## 스코어를 하나씩
#
# 스코어는 쿼리와 키가 얼마나 잘 맞는지를 잽니다. 이제부터 쿼리와 키는 벡터이며, 레이어끼리는 스코어만 다릅니다.
#
# ![스코어는 소프트맥스로 가중치가 되고, 가중치로 값의 합을 구한다](../../pictures/scores_to_sum.svg)
#
# | 레이어 | 스코어 | 학습하는 가중치 |
# |---|---|---|
# | `DotProductAttention(scale=False)` | $q \cdot k$ | 없음 |
# | `DotProductAttention()` | $q \cdot k / \sqrt{d}$ | 없음 |
# | `GaussianKernelAttention()` | $-\lvert q - k \rvert^2 / (2h^2)$ | 원하면 $h$ |
# | `BilinearAttention()` | $q^\top W k$ | $W$ |
# | `AdditiveAttention(num_hiddens)` | $w^\top \tanh(W_q q + W_k k)$ | $w, W_q, W_k$ |
#
# **스케일드 내적.** 모든 쿼리와 키의 스코어는 행렬 곱 하나이며, 어텐션 전체는 다음과 같습니다.
#
# $$\mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V \qquad Q: T \times d, \quad K: S \times d, \quad V: S \times v$$
#
# **가산 어텐션**(additive attention)은 쿼리와 키의 차원이 달라도 됩니다. 둘을 $n$차원으로 투영해 더하고, $\tanh$를 적용한 다음 벡터 $w$와 내적합니다. 이것은 $q$와 $k$를 이어 붙인 것을 입력으로 하는, 은닉층이 하나인 작은 신경망입니다. 행렬 $[W_q \; W_k]$와 이어 붙인 벡터의 곱이 $W_q q + W_k k$이기 때문입니다. 합의 꼴로 쓰면 투영을 쌍마다가 아니라 쿼리와 키마다 한 번만 계산합니다.
#
# <!-- live: dot -->


# %%
def scaled_dot_product(q, k):
    return ops.matmul(q, ops.swapaxes(k, -1, -2)) / np.sqrt(q.shape[-1])


def additive_scores(q, k, W_q, W_k, w):
    queries = ops.matmul(q, W_q)[:, :, None]  # (B, T, 1, n)
    keys = ops.matmul(k, W_k)[:, None]  # (B, 1, S, n)
    return ops.matmul(ops.tanh(queries + keys), w)[..., 0]  # (B, T, S)


q = random.normal(size=(2, 3, 4)).astype("float32")
k, v = random.normal(size=(2, 2, 5, 4)).astype("float32")
valid_lens = np.array([5, 2])
mask = length_mask(valid_lens, num_keys=5)

by_hand = ops.matmul(masked_softmax(scaled_dot_product(q, k), mask), v)
layer = keras_attn.DotProductAttention()
assert agree(by_hand, layer(q, k, v, valid_lens))

wide = random.normal(size=(2, 3, 7)).astype("float32")  # other size
layer = keras_attn.AdditiveAttention(num_hiddens=8)
of_layer = layer(wide, k, v, valid_lens)
W_q, W_k, w = layer.get_weights()
scores = additive_scores(wide, k, W_q, W_k, w)
assert agree(ops.matmul(masked_softmax(scores, mask), v), of_layer)

# The same as a network whose input is the query and the key, joined.
pair = np.concatenate([wide[0, 0], k[0, 0]])
hidden = np.tanh(pair @ np.concatenate([W_q, W_k]))
assert agree(hidden @ w[:, 0], scores[0, 0, 0])

# %% [markdown]
# Three queries and five points of the plane as keys; the last key is padding. All layers share one call signature, so they are interchangeable.

# %% [markdown] lang="ja"
# 三つのクエリと、キーとして平面上の五つの点を使います。最後のキーはパディングです。どのレイヤーも呼び出し方が同じなので、入れ替えられます。

# %% [markdown] lang="ko"
# 쿼리 세 개와, 키로 쓸 평면의 점 다섯 개가 있습니다. 마지막 키는 패딩입니다. 모든 레이어는 호출하는 방법이 같으므로 서로 바꿀 수 있습니다.

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
# With the dot product, the key with the largest norm, "far right", has the largest weight; with the Gaussian kernel it is the nearest key. The query "origin" has a score of 0 with every key, so the dot product gives it equal weights. The bilinear and additive layers have random weights until they are trained. Padding gets 0 everywhere.

# %% [markdown] lang="ja"
# 内積ではノルムの大きいキー "far right" に、ガウスカーネルでは最も近いキーに大きな重みが付きます。クエリ "origin" はどのキーとも内積が 0 なので、重みは均等です。双線形と加法のレイヤーの重みは、学習するまで乱数です。パディングの重みはどこでも 0 です。

# %% [markdown] lang="ko"
# 내적은 노름이 큰 키 "far right"에, 가우스 커널은 가까운 키에 큰 가중치를 줍니다. 쿼리 "origin"은 모든 키와 내적이 0이므로 가중치가 균등합니다. 쌍선형 레이어와 가산 레이어의 가중치는 학습하기 전까지 난수입니다. 패딩의 가중치는 어디서나 0입니다.

# %%
plot_attention(found, list(named_queries), list(named_keys))

# %% [markdown]
# ### Exercise: change the keys of the toy example
#
# Two queries meet ten keys, of which two and six are valid. If all keys are the same, what are the weights of additive and of dot-product attention? And if the keys are random? Must both layers agree?
#
# <details><summary>Answer</summary>
#
# Equal keys have equal scores, whatever the score and the query: all valid keys share the weight, 1/2 and 1/6. With different keys the layers disagree, because each measures similarity in its own way; here the additive layer has random weights, too.
#
# </details>
#
# ### Exercise: sizes that differ, by matrix products alone
#
# A dot product needs a query and a key of one size. Lift this limit without $\tanh$.
#
# <details><summary>Answer</summary>
#
# A learned matrix $W$ of shape `(Dq, Dk)` between them: $q^\top W k$. It projects the query to the size of the key; nothing but matrix products is needed. `BilinearAttention` is this layer.
#
# </details>
#
# ### Exercise: sum of vectors against dot product
#
# Could the score be a sum, $w \cdot (q + k)$, in place of a product?
#
# <details><summary>Answer</summary>
#
# Write it as $w \cdot q + w \cdot k$. The first part is the same for all keys of a query, and softmax ignores what all scores share. So every query gets the *same* weights: a sum cannot match queries with keys. Additive attention avoids this with a $\tanh$ between the sum and $w$.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: 例のキーを変える
#
# 二つのクエリに対してキーが 10 個あり、それぞれ 2 個と 6 個が有効です。キーがすべて同じなら、加法アテンションと内積アテンションの重みはどうなるでしょうか。キーが乱数ならどうでしょうか。二つのレイヤーの結果は一致するはずでしょうか。
#
# <details><summary>解答</summary>
#
# 同じキーのスコアは、スコアの種類やクエリによらず等しくなります。有効なキーが重みを等しく分け、1/2 と 1/6 になります。キーが異なると、類似度の測り方がレイヤーごとに違うため、結果も異なります。ここでは加法レイヤーの重みも乱数です。
#
# </details>
#
# ### 演習: 次元の異なるクエリとキーを行列積だけで扱う
#
# 内積には、クエリとキーの次元が同じである必要があります。$\tanh$ を使わずに、この制限をなくしてください。
#
# <details><summary>解答</summary>
#
# 間に形状 `(Dq, Dk)` の学習する行列 $W$ を置き、$q^\top W k$ とします。クエリがキーの次元に射影され、必要なのは行列積だけです。`BilinearAttention` がこのレイヤーです。
#
# </details>
#
# ### 演習: ベクトルの和と内積
#
# 積の代わりに和 $w \cdot (q + k)$ をスコアにできるでしょうか。
#
# <details><summary>解答</summary>
#
# $w \cdot q + w \cdot k$ と書きます。第 1 項は一つのクエリのすべてのキーで同じで、ソフトマックスはそれを無視します。だからどのクエリの重みも*同じ*になります。和ではクエリとキーを照合できません。加法アテンションは、和と $w$ の間に $\tanh$ を置いてこれを避けます。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 예제의 키 바꾸기
#
# 쿼리 두 개에 키가 10개 있고, 각각 2개와 6개가 유효합니다. 키가 모두 같으면 가산 어텐션과 내적 어텐션의 가중치는 어떻게 될까요? 키가 난수라면요? 두 레이어의 결과가 같아야 할까요?
#
# <details><summary>답</summary>
#
# 같은 키의 스코어는 스코어의 종류나 쿼리와 관계없이 같습니다. 유효한 키가 가중치를 똑같이 나누어 1/2과 1/6이 됩니다. 키가 다르면 레이어마다 유사도를 재는 방법이 다르므로 결과도 다릅니다. 여기서는 가산 레이어의 가중치도 난수입니다.
#
# </details>
#
# ### 연습: 차원이 다른 쿼리와 키, 행렬 곱만으로
#
# 내적을 하려면 쿼리와 키의 차원이 같아야 합니다. $\tanh$ 없이 이 제한을 없애 보세요.
#
# <details><summary>답</summary>
#
# 그 사이에 형태가 `(Dq, Dk)`인 학습하는 행렬 $W$를 두어 $q^\top W k$로 합니다. 쿼리를 키의 차원으로 투영하는 것이며 행렬 곱만 있으면 됩니다. `BilinearAttention`이 이 레이어입니다.
#
# </details>
#
# ### 연습: 벡터의 합과 내적
#
# 곱 대신 합 $w \cdot (q + k)$를 스코어로 쓸 수 있을까요?
#
# <details><summary>답</summary>
#
# $w \cdot q + w \cdot k$로 씁니다. 앞의 항은 한 쿼리의 모든 키에서 같고, 소프트맥스는 그것을 무시합니다. 그래서 모든 쿼리의 가중치가 *똑같아집니다*. 합으로는 쿼리와 키를 맞춰 볼 수 없습니다. 가산 어텐션은 합과 $w$ 사이에 $\tanh$를 두어 이 문제를 피합니다.
#
# </details>

# %% tags=["answer"]
toy_queries = random.normal(size=(2, 1, 2))
toy_values = np.arange(40.0).reshape(1, 10, 4).repeat(2, axis=0)
toy_lengths = np.array([2, 6])
toy_keys = {
    "equal keys": np.ones((2, 10, 2)),
    "different keys": random.normal(size=(2, 10, 2)),
}
toy_layers = {
    "additive": keras_attn.AdditiveAttention(num_hiddens=8),
    "dot product": keras_attn.DotProductAttention(),
}
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
        rows = convert_to_numpy(weights)[:, 0]  # of the two examples
        toy_weights[f"{name}, {key_name}"] = rows

# Different sizes: the matrix W is (20, 2).
layer = keras_attn.BilinearAttention()
wide_queries = random.normal(size=(2, 3, 20))
layer(wide_queries, toy_keys["different keys"], toy_values, toy_lengths)
print("W of the bilinear layer", layer.get_weights()[0].shape)

# A sum as score: each query has the same weights.
w, three_queries = random.normal(size=4), random.normal(size=(3, 4))
five_keys = random.normal(size=(5, 4))
sums = (three_queries[:, None] + five_keys[None]) @ w  # (T, S)
print("weights by a sum of vectors, a row for each query")
print(convert_to_numpy(softmax(sums)))
plot_attention(toy_weights)

# %% [markdown]
# ## Why scores are divided by √d
#
# Let the numbers in $q$ and $k$ be independent, with mean 0 and variance 1. Then $q \cdot k$ is a sum of $d$ such products, and its variance is $d$. Wide vectors thus have large scores, and softmax of large scores is *saturated*: one weight is nearly 1, the others nearly 0, and the gradient vanishes, as the exercise on the covariance has shown. Divided by $\sqrt{d}$, the scores have variance 1 for every $d$.
#
# **Predict.** There are 16 keys. How large is the largest weight for $d = 2$ and for $d = 1024$, without the division? With it?
#
# <!-- live: softmax -->

# %% [markdown] lang="ja"
# ## なぜ √d で割るのか
#
# $q$ と $k$ の成分が独立で、平均 0、分散 1 だとします。$q \cdot k$ はそのような積の $d$ 個の和なので、分散は $d$ です。つまり次元の大きいベクトルではスコアが大きくなり、ソフトマックスは*飽和*します。一つの重みがほぼ 1、ほかがほぼ 0 になり、共分散の演習で見たように勾配が消えます。$\sqrt{d}$ で割れば、どの $d$ でもスコアの分散は 1 です。
#
# **予想してください。** キーは 16 個です。割らない場合、最大の重みは $d = 2$ と $d = 1024$ でそれぞれどのくらいでしょうか。割った場合はどうでしょうか。
#
# <!-- live: softmax -->

# %% [markdown] lang="ko"
# ## 왜 √d로 나누는가
#
# $q$와 $k$의 성분이 독립이고 평균이 0, 분산이 1이라고 합시다. $q \cdot k$는 그런 곱 $d$개의 합이므로 분산은 $d$입니다. 그래서 차원이 큰 벡터는 스코어가 커지고 소프트맥스는 *포화*됩니다. 가중치 하나가 거의 1, 나머지는 거의 0이 되고, 공분산 연습에서 보았듯이 기울기가 사라집니다. $\sqrt{d}$로 나누면 어떤 $d$에서도 스코어의 분산이 1입니다.
#
# **예상해 보세요.** 키는 16개입니다. 나누지 않을 때 가장 큰 가중치는 $d = 2$와 $d = 1024$에서 각각 얼마나 될까요? 나누면요?
#
# <!-- live: softmax -->

# %%
sizes = 2 ** np.arange(1, 11)
table = []
for d in sizes:
    q = random.normal(size=(2000, 1, d))
    k = random.normal(size=(2000, 16, d))
    row = [d]
    for scale in (1.0, d**-0.5):
        some = (q @ k.swapaxes(1, 2)) * scale  # (2000, 1, 16)
        p = convert_to_numpy(softmax(some))
        slope = (p * (1 - p)).sum(-1).mean()  # 0 where saturated
        row += [some.var(), p.max(-1).mean(), slope]
    table.append(row)
print("               q . k                 q . k / sqrt(d)")
print("   d  variance  largest   slope    variance  largest   slope")
for d, *row in table:
    numbers = "{:10.1f}{:9.3f}{:8.3f}{:12.2f}{:9.3f}{:8.3f}"
    print(f"{d:4}" + numbers.format(*row))

# %% [markdown]
# ### The saturated softmax, drawn
#
# With 16 keys, equal weights would be 0.06. Without the scale the largest weight grows to nearly 1 with $d$. With the scale it keeps its size.

# %% [markdown] lang="ja"
# ### 飽和したソフトマックスの図
#
# キーが 16 個なら、均等な重みは 0.06 です。割らないと、最大の重みは $d$ とともにほぼ 1 まで大きくなります。割れば変わりません。

# %% [markdown] lang="ko"
# ### 포화된 소프트맥스의 그림
#
# 키가 16개일 때 균등한 가중치는 0.06입니다. 나누지 않으면 가장 큰 가중치는 $d$와 함께 거의 1까지 커집니다. 나누면 변하지 않습니다.

# %% tags=["plot"]
_, variances, largest, slopes, _, scaled, scaled_slopes = np.array(table).T
figure = Figure((9, 3), layout="constrained")
left, middle, right = figure.subplots(1, 3)
left.loglog(sizes, variances, "o-", label="measured")
left.loglog(sizes, sizes, "k--", label="d")
left.set_title("variance of q · k", fontsize=10)
middle.semilogx(sizes, largest, "o-", label="q · k")
middle.semilogx(sizes, scaled, "o-", label="q · k / √d")
middle.set_title("largest of 16 weights", fontsize=10)
right.semilogx(sizes, slopes, "o-", label="q · k")
right.semilogx(sizes, scaled_slopes, "o-", label="q · k / √d")
right.set_title("slope of softmax", fontsize=10)
for axes in (left, middle, right):
    axes.set_xlabel("d")
    axes.legend(frameon=False)
figure

# %% [markdown]
# ### Exercise: distance by the length of the keys alone
#
# Attention by distance needs $|q - k|^2$ for each pair. Change scaled dot-product attention so that it computes this, with the squared lengths of the keys as the only addition.
#
# <details><summary>Answer</summary>
#
# $-\tfrac12 |q - k|^2 = q \cdot k - \tfrac12 |k|^2 - \tfrac12 |q|^2$. The last part is the same for all keys, so softmax ignores it: subtract half the squared length of each key from the scores, $S$ numbers in all.
#
# </details>
#
# ### Exercise: the cost of a score
#
# Count multiplications for $T$ queries and $S$ keys of size $d$, and values of size $v$. What must be read from and written to memory?
#
# <details><summary>Answer</summary>
#
# | score | scores | sum of values | memory for the weights |
# |---|---|---|---|
# | dot product | $T S d$ | $T S v$ | $T S$ |
# | bilinear | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | Gaussian kernel | $T S d + S d$ | $T S v$ | $T S$ |
# | additive | $T d_q n + S d_k n + T S n$, and $T S n$ times $\tanh$ | $T S v$ | $T S n$ |
#
# The dot product is one matrix product, which every processor computes fast. Additive attention with $n$ hidden units holds a tensor of $T S n$ numbers. For one query at a time, $T = 1$, all keys and values are read for $S (d + v)$ multiplications: memory bandwidth is the limit, not arithmetic. [Tutorial 4](4_cost.ipynb) measures such costs.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: キーのノルムだけで距離を計算する
#
# 距離によるアテンションには、組ごとの $|q - k|^2$ が必要です。キーのノルムの 2 乗だけを追加して、スケール化内積アテンションを距離によるアテンションに変えてください。
#
# <details><summary>解答</summary>
#
# $-\tfrac12 |q - k|^2 = q \cdot k - \tfrac12 |k|^2 - \tfrac12 |q|^2$ です。最後の項はすべてのキーで同じなので、ソフトマックスは無視します。スコアから各キーのノルムの 2 乗の半分、全部で $S$ 個の数を引けば足ります。
#
# </details>
#
# ### 演習: スコアの計算量
#
# $d$ 次元のクエリ $T$ 個とキー $S$ 個、$v$ 次元のバリューについて、乗算の回数を数えてください。メモリでは何を読み書きするでしょうか。
#
# <details><summary>解答</summary>
#
# | スコア | スコアの計算 | バリューの和 | 重みのメモリ |
# |---|---|---|---|
# | 内積 | $T S d$ | $T S v$ | $T S$ |
# | 双線形 | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | ガウスカーネル | $T S d + S d$ | $T S v$ | $T S$ |
# | 加法 | $T d_q n + S d_k n + T S n$ と、$T S n$ 回の $\tanh$ | $T S v$ | $T S n$ |
#
# 内積は一つの行列積で、どのプロセッサでも速く計算できます。隠れユニットが $n$ 個の加法アテンションは、$T S n$ 個の数を持つテンソルを必要とします。クエリを一つずつ処理する場合（$T = 1$）は、$S (d + v)$ 回の乗算のためにすべてのキーとバリューを読みます。限界を決めるのは演算ではなく、メモリ帯域幅です。[チュートリアル 4](4_cost.ipynb) でこのようなコストを測ります。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 키의 노름만으로 거리 계산하기
#
# 거리에 의한 어텐션에는 쌍마다 $|q - k|^2$가 필요합니다. 키의 노름의 제곱만 더해서 스케일드 내적 어텐션을 거리에 의한 어텐션으로 바꾸세요.
#
# <details><summary>답</summary>
#
# $-\tfrac12 |q - k|^2 = q \cdot k - \tfrac12 |k|^2 - \tfrac12 |q|^2$입니다. 마지막 항은 모든 키에서 같으므로 소프트맥스가 무시합니다. 스코어에서 각 키의 노름의 제곱의 절반, 모두 $S$개의 수를 빼면 됩니다.
#
# </details>
#
# ### 연습: 스코어의 계산량
#
# $d$차원 쿼리 $T$개와 키 $S$개, $v$차원 값에 대해 곱셈 횟수를 세어 보세요. 메모리에서는 무엇을 읽고 써야 할까요?
#
# <details><summary>답</summary>
#
# | 스코어 | 스코어 계산 | 값의 합 | 가중치의 메모리 |
# |---|---|---|---|
# | 내적 | $T S d$ | $T S v$ | $T S$ |
# | 쌍선형 | $T d_q d_k + T S d_k$ | $T S v$ | $T S$ |
# | 가우스 커널 | $T S d + S d$ | $T S v$ | $T S$ |
# | 가산 | $T d_q n + S d_k n + T S n$, 그리고 $\tanh$ $T S n$번 | $T S v$ | $T S n$ |
#
# 내적은 행렬 곱 하나이므로 어떤 프로세서에서도 빠릅니다. 은닉 유닛이 $n$개인 가산 어텐션은 수가 $T S n$개인 텐서를 가져야 합니다. 쿼리를 하나씩 처리하면($T = 1$) 곱셈 $S (d + v)$번을 위해 모든 키와 값을 읽습니다. 한계는 연산이 아니라 메모리 대역폭입니다. [튜토리얼 4](4_cost.ipynb)에서 이런 비용을 잽니다.
#
# </details>

# %% tags=["answer"]
# Distance by the length of the keys alone.
q, k = random.normal(size=(2, 1, 5, 3)).astype("float32")
scores = q @ k.swapaxes(1, 2) - (k**2).sum(-1)[:, None] / 2
layer = keras_attn.GaussianKernelAttention(1.0)
_, of_layer = layer(q, k, return_attention_scores=True)
assert agree(softmax(scores), of_layer)

# %% [markdown]
# ## What to take along
#
# - Attention is a mean of values with weights that depend on the query. Scores are any numbers; softmax makes weights of them.
# - A hidden key has the weight 0, and a query without keys gives 0.
# - The dot product is cheap and has nothing to learn; additive attention learns its score and takes sizes that differ. Divide dot products by $\sqrt{d}$.

# %% [markdown] lang="ja"
# ## まとめ
#
# - アテンションは、クエリによって重みが決まる、バリューの平均です。スコアはどんな数でもよく、ソフトマックスが重みに変えます。
# - 隠されたキーの重みは 0 で、キーのないクエリの出力は 0 です。
# - 内積は計算が軽く、学習するものがありません。加法アテンションはスコアを学習し、次元の違いを許します。内積は $\sqrt{d}$ で割ります。

# %% [markdown] lang="ko"
# ## 정리
#
# - 어텐션은 쿼리에 따라 가중치가 정해지는 값의 평균입니다. 스코어는 어떤 수라도 되고, 소프트맥스가 가중치로 바꿉니다.
# - 가려진 키의 가중치는 0이고, 키가 없는 쿼리의 출력은 0입니다.
# - 내적은 계산이 가볍고 학습할 것이 없습니다. 가산 어텐션은 스코어를 학습하고 차원이 달라도 됩니다. 내적은 $\sqrt{d}$로 나눕니다.

# %% [markdown]
# # 5 A Transformer from its parts
#
# This tutorial covers sections 11.7 and 11.9 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/transformer.html).
#
# - **You learn** to write cross-attention, layer normalisation, the feed-forward network and a whole block by hand; what residual
#   connections are for; and to train an encoder–decoder and a language model on a toy task.
# - **Time:** 45 minutes; the cells run for about a minute.
# - **Before this:** [2 Self-attention and heads](2_self_attention.ipynb) and [3 Positions](3_positions.ipynb). You should know what an
#   embedding is, and how a model is trained with `fit`.

# %% [markdown] lang="ja"
# # 5 部品から組み立てる Transformer
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/transformer.html) の 11.7 節と 11.9 節に対応します。
#
# - **学ぶこと:** クロスアテンション、レイヤー正規化、フィードフォワードネットワーク、ブロック全体を自分の手で書きます。残差接続の役割を確かめ、エンコーダー・デコーダーと言語モデルを小さな課題で学習させます。
# - **所要時間:** 45 分。セルの実行は 1 分ほどです。
# - **前提:** [2 自己注意とヘッド](2_self_attention.ipynb)と [3 位置](3_positions.ipynb)。埋め込みとは何か、`fit` でモデルをどう学習させるか。

# %% [markdown] lang="ko"
# # 5 부품으로 만드는 트랜스포머
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/transformer.html)의 11.7절과 11.9절에 해당합니다.
#
# - **배우는 것:** 크로스 어텐션, 레이어 정규화, 피드포워드 네트워크, 블록 전체를 직접 씁니다. 잔차 연결의 역할을 확인하고, 인코더-디코더와 언어 모델을 작은 과제로 학습시킵니다.
# - **시간:** 45분. 셀 실행에는 1분쯤 걸립니다.
# - **미리 알아 둘 것:** [2 셀프 어텐션과 헤드](2_self_attention.ipynb)와 [3 위치](3_positions.ipynb). 임베딩이 무엇인지, `fit`으로 모델을 어떻게 학습시키는지.

# %%
import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(0)
np.set_printoptions(precision=2, suppress=True)
random = np.random.default_rng(0)


def normal(*shape):
    return ops.convert_to_tensor(random.normal(size=shape), "float32")


# %% [markdown]
# ## From recurrent networks to the Transformer
#
# The first neural translators were two recurrent networks. The encoder read the source word by word, and its last state, one vector, had to
# hold the whole sentence. Long sentences suffered. In 2014 attention was *added*: the decoder could look back at all states of the
# encoder ([tutorial 7](7_recurrent_decoder.ipynb)). Attention then carried most of the information between words, while the recurrence made
# training slow ([tutorial 4](4_cost.ipynb)). In 2017 the Transformer *replaced* the recurrence: attention between the words of one
# sentence, attention from target to source, and a small network for each position.
#
# ![Encoder and decoder blocks: norm, sub-layer and sum, with a residual connection around each sub-layer. The memory of the encoder is the keys and values of the cross-attention.](../pictures/transformer_blocks.svg)
#
# ## Cross-attention
#
# In cross-attention the queries come from the target, and keys and values from the source:
#
# $$Q = Y W_Q, \qquad K = X W_K, \qquad V = X W_V, \qquad \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# The two lengths may differ. $W_Q$, $W_K$ and $W_V$ are learned: what a token looks for, by what it is found, and what it hands over.
#
# **Predict:** with 3 target tokens and 4 source tokens of width 8, which shapes have the weights and the output?

# %% [markdown] lang="ja"
# ## 再帰型ネットワークから Transformer へ
#
# 最初のニューラル翻訳は、二つの再帰型ネットワークでした。エンコーダーが原文を一語ずつ読み、最後の状態、つまり一つのベクトルに文全体を収めなければなりませんでした。長い文では翻訳の質が下がりました。2014 年にアテンションが*追加*され、デコーダーはエンコーダーのすべての状態を参照できるようになりました（[チュートリアル 7](7_recurrent_decoder.ipynb)）。すると、単語の間の情報の大部分はアテンションが運び、再帰は学習を遅くするだけになりました（[チュートリアル 4](4_cost.ipynb)）。2017 年、Transformer は再帰を*置き換え*ました。一つの文の単語の間のアテンション、訳文から原文へのアテンション、そして位置ごとの小さなネットワークです。
#
# ![エンコーダーとデコーダーのブロック。正規化、サブレイヤー、和があり、サブレイヤーごとに残差接続がある。エンコーダーのメモリがクロスアテンションのキーとバリューになる。](../../pictures/transformer_blocks.svg)
#
# ## クロスアテンション
#
# クロスアテンションでは、クエリは訳文から、キーとバリューは原文から来ます。
#
# $$Q = Y W_Q, \qquad K = X W_K, \qquad V = X W_V, \qquad \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# 二つの長さは違ってもかまいません。$W_Q$、$W_K$、$W_V$ は学習されます。トークンが何を探すか、何によって見つけられるか、何を渡すかを表します。
#
# **予想してください:** 8 次元の訳文のトークンが 3 個、原文のトークンが 4 個のとき、重みと出力の形状はどうなりますか。

# %% [markdown] lang="ko"
# ## 순환 신경망에서 트랜스포머로
#
# 처음의 신경망 번역기는 순환 신경망 두 개였습니다. 인코더가 원문을 한 단어씩 읽고, 마지막 상태인 벡터 하나에 문장 전체를 담아야 했습니다. 긴 문장에서는 번역이 나빠졌습니다. 2014년에 어텐션이 *더해졌습니다*. 디코더가 인코더의 모든 상태를 참조할 수 있게 된 것입니다([튜토리얼 7](7_recurrent_decoder.ipynb)). 그러자 단어 사이의 정보는 대부분 어텐션이 나르고, 순환은 학습을 느리게 할 뿐이었습니다([튜토리얼 4](4_cost.ipynb)). 2017년에 트랜스포머는 순환을 *대신했습니다*. 한 문장의 단어 사이의 어텐션, 번역문에서 원문으로 가는 어텐션, 그리고 위치마다 쓰는 작은 네트워크입니다.
#
# ![인코더와 디코더 블록. 정규화, 하위 레이어, 합이 있고 하위 레이어마다 잔차 연결이 있다. 인코더의 메모리가 크로스 어텐션의 키와 값이 된다.](../../pictures/transformer_blocks.svg)
#
# ## 크로스 어텐션
#
# 크로스 어텐션에서 쿼리는 번역문에서, 키와 값은 원문에서 옵니다.
#
# $$Q = Y W_Q, \qquad K = X W_K, \qquad V = X W_V, \qquad \mathrm{softmax}\!\left(\frac{Q K^\top}{\sqrt{d}}\right) V$$
#
# 두 길이는 달라도 됩니다. $W_Q$, $W_K$, $W_V$는 학습됩니다. 토큰이 무엇을 찾는지, 무엇으로 찾아지는지, 무엇을 건네는지를 나타냅니다.
#
# **예상해 보세요:** 8차원인 번역문 토큰이 3개, 원문 토큰이 4개일 때 가중치와 출력의 형태(shape)는 무엇일까요?

# %%
target, source = normal(1, 3, 8), normal(1, 4, 8)  # (B, T, D), (B, S, D)
layer = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=1)
expected, expected_weights = layer(
    target, source, return_attention_scores=True
)
of_query, of_key, of_value, of_output = layer.weights


def cross_attention(target, source):
    query = target @ of_query
    key = source @ of_key
    value = source @ of_value
    scores = query @ ops.swapaxes(key, 1, 2) / 8**0.5
    weights = ops.softmax(scores)
    return weights @ value @ of_output, weights


output, weights = cross_attention(target, source)
assert np.allclose(output, expected, atol=1e-5)
assert np.allclose(weights, expected_weights[:, 0], atol=1e-5)
print("weights", tuple(weights.shape), " output", tuple(output.shape))

# %% [markdown]
# <details><summary>Answer</summary>
#
# The weights have a row for each target token and a column for each source token: 3 × 4. The output has a vector for each *target*
# token, with the width of the values: 3 × 8. The length of the source is gone: it was summed over.
#
# </details>
#
# ## The causal mask
#
# In the decoder's self-attention, a token must not see what follows it. The usual way to hide a key: set its score to minus infinity before the
# softmax, since $e^{-\infty} = 0$.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 重みには、訳文のトークンごとに行が、原文のトークンごとに列があります。3 × 4 です。出力は*訳文*のトークンごとに一つのベクトルで、バリューと同じ次元です。3 × 8 です。原文の長さは、和を取ったので残っていません。
#
# </details>
#
# ## 因果マスク
#
# デコーダーの自己注意では、トークンは自分より後を見てはいけません。キーを隠すには、ソフトマックスの前にスコアを負の無限大にするのが普通です。$e^{-\infty} = 0$ だからです。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 가중치에는 번역문 토큰마다 행이, 원문 토큰마다 열이 있습니다. 3 × 4입니다. 출력은 *번역문* 토큰마다 벡터 하나이고, 차원은 값과 같습니다. 3 × 8입니다. 원문의 길이는 합을 구하면서 사라졌습니다.
#
# </details>
#
# ## 인과 마스크
#
# 디코더의 셀프 어텐션에서 토큰은 자기 뒤를 보면 안 됩니다. 키를 숨길 때는 보통 소프트맥스 전에 스코어를 음의 무한대로 바꿉니다. $e^{-\infty} = 0$이기 때문입니다.

# %%
x = normal(1, 4, 8)
scores = convert_to_numpy(x @ ops.swapaxes(x, 1, 2) / 8**0.5)[0]
may_attend = np.tril(np.ones((4, 4), bool))  # row t: keys 0 to t
scores = np.where(may_attend, scores, -np.inf)
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
print(scores, weights, sep="\n\n")

_, expected = keras_attn.DotProductAttention()(
    x, x, use_causal_mask=True, return_attention_scores=True
)
assert np.allclose(weights, expected[0], atol=1e-5)

# %% [markdown]
# A row without any key would be $0 / 0$ in this form. The layers of this package return zeros for such a row.
#
# ## Layer normalisation
#
# Sums of many sub-layers would grow without limit. Layer normalisation takes the vector of *one position*, subtracts the mean of its features
# and divides by their standard deviation:
#
# $$\mathrm{norm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \qquad \mu = \frac{1}{d}\sum_i x_i, \qquad \sigma^2 = \frac{1}{d}\sum_i (x_i - \mu)^2$$
#
# $\gamma$ and $\beta$ are learned, one number for each feature; they begin as 1 and 0. Batch normalisation takes mean and variance over the
# examples of a batch instead. Sentences differ in length, and padding would change these; layer normalisation needs no other position.
#
# **Predict:** the second vector below is ten times the first. How do their normalised vectors differ?

# %% [markdown] lang="ja"
# この書き方では、キーが一つもない行は $0 / 0$ になります。このパッケージのレイヤーは、そのような行に 0 を返します。
#
# ## レイヤー正規化
#
# 多数のサブレイヤーの和は、際限なく大きくなります。レイヤー正規化は、*一つの位置*のベクトルから特徴の平均を引き、標準偏差で割ります。
#
# $$\mathrm{norm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \qquad \mu = \frac{1}{d}\sum_i x_i, \qquad \sigma^2 = \frac{1}{d}\sum_i (x_i - \mu)^2$$
#
# $\gamma$ と $\beta$ は特徴ごとに一つの学習される数で、初めは 1 と 0 です。バッチ正規化は、代わりにバッチの中の例にわたる平均と分散を使います。文は長さが違い、パディングが平均と分散を変えてしまいます。レイヤー正規化には、ほかの位置は必要ありません。
#
# **予想してください:** 下の二つ目のベクトルは、一つ目の 10 倍です。正規化したベクトルはどう違いますか。

# %% [markdown] lang="ko"
# 이렇게 쓰면 키가 하나도 없는 행은 $0 / 0$이 됩니다. 이 패키지의 레이어는 그런 행에 0을 돌려줍니다.
#
# ## 레이어 정규화
#
# 많은 하위 레이어의 합은 끝없이 커집니다. 레이어 정규화(layer normalization)는 *한 위치*의 벡터에서 특징의 평균을 빼고 표준편차로 나눕니다.
#
# $$\mathrm{norm}(x) = \gamma \odot \frac{x - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta, \qquad \mu = \frac{1}{d}\sum_i x_i, \qquad \sigma^2 = \frac{1}{d}\sum_i (x_i - \mu)^2$$
#
# $\gamma$와 $\beta$는 특징마다 하나씩 학습되는 수이고 처음에는 1과 0입니다. 배치 정규화는 그 대신 배치 안의 예에 걸친 평균과 분산을 씁니다. 문장은 길이가 다르고, 패딩이 평균과 분산을 바꿉니다. 레이어 정규화에는 다른 위치가 필요 없습니다.
#
# **예상해 보세요:** 아래 둘째 벡터는 첫째 벡터의 10배입니다. 정규화한 벡터는 어떻게 다를까요?


# %%
def layer_norm(x, gamma=1.0, beta=0.0, epsilon=1e-6):
    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean((x - mean) ** 2, axis=-1, keepdims=True)
    return gamma * (x - mean) / ops.sqrt(variance + epsilon) + beta


vectors = np.array([[1, 2, 3, 6], [10, 20, 30, 60]], "float32")
normed = convert_to_numpy(layer_norm(vectors))
expected = keras.layers.LayerNormalization(epsilon=1e-6)(vectors)
assert np.allclose(normed, expected, atol=1e-5)
print(normed)
print("mean", normed.mean(-1), " standard deviation", normed.std(-1))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Not at all: the factor is divided out. Only the direction of a vector, relative to its mean, is left.
#
# </details>
#
# ## The feed-forward network
#
# Attention returns weighted means: by itself it makes nothing new of a vector. The feed-forward network does. It widens each vector, sets negative
# numbers to zero, and returns to the old width:
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# It has the same weights at all positions, and looks at one position at a time. With a fourfold inner width it has two thirds of
# the weights of a block.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# 違いません。倍率は割り算で消えます。残るのは、平均から見たベクトルの向きだけです。
#
# </details>
#
# ## フィードフォワードネットワーク
#
# アテンションが返すのは加重平均で、それだけではベクトルから新しいものを作れません。それを行うのがフィードフォワードネットワークです。各ベクトルの次元を広げ、負の数を 0 にし、元の次元に戻します。
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# 重みはすべての位置で同じで、一度に見るのは一つの位置だけです。内側の次元が 4 倍なら、ブロックの重みの 3 分の 2 がここにあります。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 다르지 않습니다. 배수는 나눗셈으로 없어집니다. 남는 것은 평균에서 본 벡터의 방향뿐입니다.
#
# </details>
#
# ## 피드포워드 네트워크
#
# 어텐션이 돌려주는 것은 가중 평균이라, 그것만으로는 벡터에서 새로운 것을 만들지 못합니다. 그 일은 피드포워드 네트워크가 합니다. 각 벡터의 차원을 넓히고, 음수를 0으로 바꾸고, 원래 차원으로 되돌립니다.
#
# $$\mathrm{FFN}(x) = \max(0,\; x W_1 + b_1)\, W_2 + b_2$$
#
# 모든 위치에서 가중치가 같고, 한 번에 한 위치만 봅니다. 안쪽 차원이 네 배이면 블록 가중치의 3분의 2가 여기에 있습니다.


# %%
def feed_forward(x, w_1, b_1, w_2, b_2):
    return ops.relu(x @ w_1 + b_1) @ w_2 + b_2


x = normal(1, 4, 8)
layer = keras_attn.FeedForward(ffn_num_hiddens=32)
expected = layer(x)
assert np.allclose(feed_forward(x, *layer.weights), expected, atol=1e-5)

changed = convert_to_numpy(x).copy()
changed[0, 1] += 1  # the second of four positions
difference = convert_to_numpy(layer(changed)) - convert_to_numpy(expected)
print("change of each position:", np.abs(difference)[0].max(-1))

# %% [markdown]
# ## A whole block
#
# An encoder block is self-attention and a feed-forward network, each with a normalisation of its input and a *residual connection*: the
# input is added to the result.
#
# $$y = x + \mathrm{attention}(\mathrm{norm}(x)), \qquad z = y + \mathrm{FFN}(\mathrm{norm}(y))$$
#
# In ten lines, with several heads and padding:

# %% [markdown] lang="ja"
# ## ブロック全体
#
# エンコーダーのブロックは、自己注意とフィードフォワードネットワークです。どちらも入力を正規化し、*残差接続*を持ちます。つまり、入力を結果に加えます。
#
# $$y = x + \mathrm{attention}(\mathrm{norm}(x)), \qquad z = y + \mathrm{FFN}(\mathrm{norm}(y))$$
#
# 複数のヘッドとパディングを含めても、10 行ほどです。

# %% [markdown] lang="ko"
# ## 블록 전체
#
# 인코더 블록은 셀프 어텐션과 피드포워드 네트워크입니다. 둘 다 입력을 정규화하고 *잔차 연결*을 가집니다. 곧 입력을 결과에 더합니다.
#
# $$y = x + \mathrm{attention}(\mathrm{norm}(x)), \qquad z = y + \mathrm{FFN}(\mathrm{norm}(y))$$
#
# 여러 헤드와 패딩까지 넣어도 열 줄쯤입니다.

# %%
block = keras_attn.EncoderBlock(
    num_hiddens=32, ffn_num_hiddens=64, num_heads=4
)
x = normal(2, 5, 32)
valid_lens = np.array([5, 3])  # the second sentence has two of padding
expected = block(x, valid_lens=valid_lens)
# Weights in the order of `block.weights`.
of_attention, norm_1 = block.weights[:4], block.weights[4:6]
of_network, norm_2 = block.weights[6:10], block.weights[10:]


def split(x, heads=4):
    """(B, T, D) to (B, H, T, K)."""
    x = ops.reshape(x, (*x.shape[:2], heads, x.shape[-1] // heads))
    return ops.swapaxes(x, 1, 2)


def block_by_hand(x, valid_lens):
    of_query, of_key, of_value, of_output = of_attention
    normed = layer_norm(x, *norm_1)
    q, k, v = (split(normed @ w) for w in (of_query, of_key, of_value))
    scores = q @ ops.swapaxes(k, -1, -2) / k.shape[-1] ** 0.5
    is_key = np.arange(x.shape[1]) < valid_lens[:, None, None, None]
    weights = ops.softmax(ops.where(is_key, scores, -1e9))
    heads = ops.reshape(ops.swapaxes(weights @ v, 1, 2), x.shape)
    y = x + heads @ of_output
    return y + feed_forward(layer_norm(y, *norm_2), *of_network)


assert np.allclose(block_by_hand(x, valid_lens), expected, atol=1e-4)
print("the block by hand equals EncoderBlock")

# %% [markdown]
# `Residual` is norm, dropout and sum as a layer of its own, for blocks that you build yourself.
#
# ## What residual connections do
#
# A stack of attention layers alone makes all positions alike: each layer replaces a vector by a mean. After a few layers the sentence is
# one vector, repeated. A residual connection keeps the vector of each position in the sum. The effect is strongest with pre-norm. With
# random weights, post-norm blocks also make the positions alike, more slowly.

# %% [markdown] lang="ja"
# `Residual` は、正規化、ドロップアウト、和をまとめたレイヤーです。自分でブロックを組み立てるときに使います。
#
# ## 残差接続の役割
#
# アテンションのレイヤーだけを重ねると、すべての位置が似たものになります。どのレイヤーもベクトルを平均に置き換えるからです。数層で、文は一つのベクトルの繰り返しになります。残差接続は、各位置のベクトルを和の中に残します。効果は pre-norm で最も強くなります。ランダムな重みでは、post-norm のブロックも、ゆっくりですが位置を似たものにします。

# %% [markdown] lang="ko"
# `Residual`은 정규화, 드롭아웃, 합을 묶은 레이어입니다. 블록을 직접 만들 때 씁니다.
#
# ## 잔차 연결의 역할
#
# 어텐션 레이어만 쌓으면 모든 위치가 비슷해집니다. 레이어마다 벡터를 평균으로 바꾸기 때문입니다. 몇 층이 지나면 문장은 같은 벡터의 반복이 됩니다. 잔차 연결은 각 위치의 벡터를 합 안에 남깁니다. 효과는 pre-norm에서 가장 큽니다. 무작위 가중치에서는 post-norm 블록도 더 천천히 위치를 비슷하게 만듭니다.


# %%
def similarity(x):
    """Mean cosine similarity of the vectors of different positions."""
    x = x[0] / np.linalg.norm(x[0], axis=-1, keepdims=True)
    return (x @ x.T)[~np.eye(len(x), dtype=bool)].mean()


def through_layers(make_layer, measure, number=12):
    """`measure` of the input and after each of `number` layers."""
    keras.utils.set_random_seed(2)
    x = np.random.default_rng(1).normal(size=(1, 10, 32)).astype("float32")
    found = [measure(x)]
    for _ in range(number):
        x = convert_to_numpy(make_layer()(x))
        found.append(measure(x))
    return found


class Alone(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.attention = keras_attn.MultiHeadAttention(32, 4)

    def call(self, x):
        return self.attention(x, x)


def pre_norm():
    return keras_attn.EncoderBlock(32, 64, 4)


def post_norm():
    return keras_attn.EncoderBlock(32, 64, 4, norm_first=False)


stacks = {
    "attention alone": through_layers(Alone, similarity),
    "blocks, pre-norm": through_layers(pre_norm, similarity),
    "blocks, post-norm": through_layers(post_norm, similarity),
}
for name, values in stacks.items():
    print(f"{name:18} after 12 layers: {values[-1]:.2f}")

# %% tags=["plot"]
figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for name, values in stacks.items():
    axes.plot(values, label=name)
axes.set_xlabel("layers")
axes.set_ylabel("similarity of positions")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ## Normalisation before or after
#
# The first Transformer normalised the sum, $\mathrm{norm}(x + \mathrm{sublayer}(x))$: *post-norm*, also in the textbook. Most models of today normalise
# the input of each sub-layer: *pre-norm*, as in the drawing. In pre-norm a path without any normalisation leads from the output to the
# input, so gradients keep their size and training needs less care. The sum grows with depth, which is why a stack ends with one more
# normalisation. `norm_first=False` is post-norm.

# %% [markdown] lang="ja"
# ## 正規化は前か後か
#
# 最初の Transformer は和を正規化しました。$\mathrm{norm}(x + \mathrm{sublayer}(x))$、つまり *post-norm* で、教科書も同じです。今のモデルの多くは、図のように各サブレイヤーの入力を正規化します。*pre-norm* です。pre-norm では、正規化を一つも通らない経路が出力から入力へ通じているので、勾配の大きさが保たれ、学習が容易です。和は層とともに大きくなるので、スタックの最後にもう一度正規化します。`norm_first=False` が post-norm です。

# %% [markdown] lang="ko"
# ## 정규화는 앞인가 뒤인가
#
# 처음의 트랜스포머는 합을 정규화했습니다. $\mathrm{norm}(x + \mathrm{sublayer}(x))$, 곧 *post-norm*이고 교과서도 같습니다. 요즘 모델은 대부분 그림처럼 하위 레이어의 입력을 정규화합니다. *pre-norm*입니다. pre-norm에서는 정규화를 전혀 거치지 않는 길이 출력에서 입력까지 이어지므로, 기울기의 크기가 유지되고 학습이 쉽습니다. 합은 층과 함께 커지므로 스택 끝에서 한 번 더 정규화합니다. `norm_first=False`가 post-norm입니다.

# %%
sizes = {
    "pre-norm": through_layers(pre_norm, np.std),
    "post-norm": through_layers(post_norm, np.std),
}
for name, values in sizes.items():
    print(f"{name:10} standard deviation after 12 layers: {values[-1]:.2f}")

# %% tags=["plot"]
figure = Figure((6.5, 3), layout="constrained")
axes = figure.subplots()
for name, values in sizes.items():
    axes.plot(values, label=name)
axes.set_xlabel("layers")
axes.set_ylabel("standard deviation")
figure.legend(loc="outside right upper", frameon=False)
figure

# %% [markdown]
# ## Encoder–decoder on a toy task
#
# The task: write six digits backwards. The encoder reads the digits. The decoder writes one digit after the other and attends to the
# output of the encoder, the *memory*. In training, the input of the decoder is the right target, one place later (*teacher forcing*), and
# the causal mask hides what follows. So all six digits are trained at once.

# %% [markdown] lang="ja"
# ## 小さな課題でのエンコーダー・デコーダー
#
# 課題は、6 桁の数字を逆順に書くことです。エンコーダーが数字を読みます。デコーダーは数字を一つずつ書き、エンコーダーの出力である*メモリ*を参照します。学習では、正しい訳文を一つ後ろにずらしたものがデコーダーの入力です（*教師強制*、teacher forcing）。それより後は因果マスクが隠します。こうして 6 桁を一度に学習できます。

# %% [markdown] lang="ko"
# ## 작은 과제로 보는 인코더-디코더
#
# 과제는 여섯 자리 숫자를 거꾸로 쓰는 것입니다. 인코더가 숫자를 읽습니다. 디코더는 숫자를 하나씩 쓰며 인코더의 출력인 *메모리*를 참조합니다. 학습할 때 디코더의 입력은 올바른 번역문을 한 자리 뒤로 민 것이고(*교사 강요*, teacher forcing), 그 뒤는 인과 마스크가 숨깁니다. 그래서 여섯 자리를 한꺼번에 학습합니다.

# %%
BEGIN, FIRST_DIGIT = 1, 3  # ids; 0 is padding


def examples(number):
    last = FIRST_DIGIT + 10
    digits = random.integers(FIRST_DIGIT, last, (number, 6))
    return digits, digits[:, ::-1]


def after_begin(target):
    """Input of the decoder: the target, one place later."""
    begin = np.full((len(target), 1), BEGIN)
    return np.concatenate([begin, target[:, :-1]], axis=1)


source, target = examples(8000)
test_source, test_target = examples(500)
print("source        ", *source[0] - FIRST_DIGIT)
print("decoder input  B", *after_begin(target)[0, 1:] - FIRST_DIGIT)
print("target        ", *target[0] - FIRST_DIGIT)

# %%
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
print("accuracy by epoch:", np.round(history.history["accuracy"], 3))

# %% [markdown]
# ### Greedy decoding
#
# After training, nobody gives the right digits. The decoder starts with the begin token, and the most probable digit becomes its next
# input. By hand, the decoder computes the whole target again for each digit:

# %% [markdown] lang="ja"
# ### 貪欲探索
#
# 学習の後は、正しい数字は与えられません。デコーダーは開始トークンから始め、最も確率の高い数字を次の入力にします。素直に書くと、数字を一つ書くたびに訳文全体を計算し直します。

# %% [markdown] lang="ko"
# ### 탐욕적 탐색
#
# 학습이 끝나면 아무도 올바른 숫자를 알려 주지 않습니다. 디코더는 시작 토큰에서 출발해, 확률이 가장 높은 숫자를 다음 입력으로 씁니다. 그대로 쓰면 숫자 하나마다 번역문 전체를 다시 계산합니다.


# %%
def greedy(source, length=6):
    written = np.full((len(source), 1), BEGIN)
    for _ in range(length):
        logits = convert_to_numpy(model((source, written)))
        best = logits[:, -1].argmax(-1)  # of the last position
        written = np.concatenate([written, best[:, None]], axis=1)
    return written[:, 1:]


answers = greedy(test_source)
right = (answers == test_target).all(-1).mean()
print(f"all six digits right: {right:.1%}")
for row in range(3):
    print(*test_source[row] - FIRST_DIGIT, "->", end=" ")
    print(*answers[row] - FIRST_DIGIT)

# %% [markdown]
# With a *cache*, the keys and values of earlier digits are kept, and each step computes one position. The digits are the same:

# %% [markdown] lang="ja"
# *キャッシュ*を使うと、それまでの数字のキーとバリューが保存され、各ステップで計算する位置は一つだけです。結果は同じ数字です。

# %% [markdown] lang="ko"
# *캐시*를 쓰면 앞 숫자들의 키와 값이 저장되고, 단계마다 한 위치만 계산합니다. 숫자는 같습니다.


# %%
def greedy_with_cache(source, length=6):
    memory = model.encoder(source)
    cache = model.decoder.make_cache(len(source), length, memory)
    token, written = np.full((len(source), 1), BEGIN), []
    for start in range(length):
        logits, cache = model.decoder(token, cache=cache, start=start)
        token = convert_to_numpy(logits).argmax(-1)
        written.append(token)
    return np.concatenate(written, axis=1)


assert (greedy_with_cache(test_source) == answers).all()

# %% [markdown]
# The cross-attention shows how the model does it. Rows are the digits that are written, columns the digits of the source: from step to step,
# some head moves through the source from the end to the beginning.

# %% [markdown] lang="ja"
# モデルがどう解いているかは、クロスアテンションで分かります。行は書かれた数字、列は原文の数字です。あるヘッドは、ステップごとに原文を最後から最初へとたどります。

# %% [markdown] lang="ko"
# 모델이 어떻게 푸는지는 크로스 어텐션에 보입니다. 행은 쓴 숫자, 열은 원문의 숫자입니다. 어떤 헤드는 단계마다 원문을 끝에서 처음으로 옮겨 갑니다.

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

# %% [markdown] lang="ja"
# ## デコーダーのみ
#
# 言語モデルにエンコーダーは不要です。原文と訳文を一つの系列にし、全体に因果マスクを使います。損失は訳文の部分だけで計算します。

# %% [markdown] lang="ko"
# ## 디코더만
#
# 언어 모델에는 인코더가 필요 없습니다. 원문과 번역문을 한 시퀀스로 놓고 전체에 인과 마스크를 씁니다. 손실은 번역문 부분만 셉니다.


# %%
def one_sequence(source, target):
    begin = np.full((len(source), 1), BEGIN)
    whole = np.concatenate([source, begin, target], axis=1)
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
print("accuracy by epoch:", np.round(history.history["accuracy"], 3))
test_x, test_y = one_sequence(test_source, test_target)
found = convert_to_numpy(language_model(test_x)).argmax(-1)[:, 6:]
print(f"digits right on the test: {(found == test_y[:, 6:]).mean():.1%}")

# %% [markdown]
# ## Which kind for what
#
# ![Tables of which token attends to which: an encoder has no mask, a decoder is causal, and an encoder–decoder has a cross-attention from target to source.](../pictures/kinds.svg)
#
# | kind | attention | trained to | known models | used for |
# |---|---|---|---|---|
# | encoder only | all positions | fill in hidden tokens | BERT | classification, search |
# | encoder–decoder | encoder: all; decoder: causal, and cross-attention | write a target for a source | T5, mBART | translation, summaries |
# | decoder only | causal | write the next token | GPT, LLaMA | language models, chat |
#
# Here the kinds are `Encoder`, `Transformer` and `Decoder(cross_attention=False)`. All three are trained on large amounts of text first
# (*pretraining*), then adapted to a task with a few examples (*fine-tuning*), or given the task in the text itself (*prompting*). Loss decreases
# predictably as the number of weights, the data and the computation grow together.
#
# ## Exercises
#
# ### Exercise: a deeper Transformer
#
# Section 11.7, no. 1. How do more layers affect speed and quality?
#
# <details><summary>Answer</summary>
#
# Twice the layers take about twice the time: [How cost grows](../benchmarks/training.md#how-cost-grows) has measured times from 1 to
# 16 layers. Whether a deeper model is better depends on the number of tokens that it is trained on: in ten minutes, one layer on each
# side learned more from the corpus of this project than four and two ([Learning](../benchmarks/learning.md)). In post-norm, a deep
# stack also needs a warm-up of the learning rate.
#
# </details>
#
# ### Exercise: additive attention in a Transformer
#
# Section 11.7, no. 2. Is it a good replacement for the scaled dot product?
#
# <details><summary>Answer</summary>
#
# It works, but it is expensive: additive attention holds $T \cdot S \cdot n$ numbers where the dot product holds $T \cdot S$
# ([tutorial 1](1_attention_pooling.ipynb)), and it is not a single matrix product. Its advantage was for wide
# vectors, whose dot products vary too much. The factor $1/\sqrt{d}$ solves that.
#
# </details>
#
# ### Exercise: a language model
#
# Section 11.7, no. 3. Encoder, decoder or both?
#
# <details><summary>Answer</summary>
#
# The decoder alone, as in the section above: the next token must not be seen, so every layer needs the causal mask, and there is no source
# to encode. An encoder sees the token that it should predict. Both together are of use if a text is given: the encoder
# reads the first part, the decoder continues.
#
# </details>
#
# ### Exercise: tasks in one batch
#
# Section 11.9, no. 1. T5 writes an answer for any text. Can a batch of its fine-tuning mix several tasks? And with
# GPT-2?
#
# <details><summary>Answer</summary>
#
# Yes, both. For T5 the task is a part of the source ("translate English to German: ..."), and each task has the same form, text to text, with
# the same loss. So rows of a batch may have different tasks; only padding must be equal. For GPT-2 the task and the answer are one sequence. The
# loss may count the answer alone, with `sample_weight`.
#
# </details>
#
# ### Exercise: uses of a language model
#
# Section 11.9, no. 2. What can be done with a powerful one?
#
# <details><summary>Answer</summary>
#
# Whatever can be written as the continuation of a text: answers, summaries, translations, program code, corrections of grammar, data in a
# table from prose. Its probabilities are of use as well: for the more natural of two sentences, for compression, and to find errors. Its
# vectors help search. Its output must be checked: a probable sentence is not always a true one.
#
# </details>
#
# ### Exercise: text classification
#
# Section 11.9, no. 3. You fine-tune a language model and add layers for classes. Where?
#
# <details><summary>Answer</summary>
#
# On the states of the last position, in place of the projection to the vocabulary. With the causal mask, the last token that
# is not padding is the only one that has seen the whole text. In an encoder any position would do; BERT takes its first token. A mean over all
# positions is the alternative.
#
# </details>
#
# ### Exercise: translation without an encoder
#
# Section 11.9, no. 4. The whole source is known before the first target token. What does a decoder-only model lose?
#
# <details><summary>Answer</summary>
#
# - With the causal mask, a source token cannot attend to the source tokens after it. In the drawing, half of the source's table is hatched,
#   although the whole source is known. A mask that is full over the source (a *prefix* language model) solves this.
# - Source and target are one sequence, so a target token has to divide its attention between both, and both share the same weights.
# - A cross-attention reads the finished memory in each layer. In one sequence, a layer reads the source as it is after the layer before.
#
# </details>

# %% [markdown] lang="ja"
# ## どの種類を何に使うか
#
# ![どのトークンがどのトークンを参照してよいかの表。エンコーダーにはマスクがなく、デコーダーは因果的で、エンコーダー・デコーダーには訳文から原文へのクロスアテンションがある。](../../pictures/kinds.svg)
#
# | 種類 | アテンション | 学習の目標 | 知られたモデル | 用途 |
# |---|---|---|---|---|
# | エンコーダーのみ | すべての位置 | 隠したトークンを埋める | BERT | 分類、検索 |
# | エンコーダー・デコーダー | エンコーダー: すべて。デコーダー: 因果的、クロスアテンションあり | 原文から訳文を書く | T5、mBART | 翻訳、要約 |
# | デコーダーのみ | 因果的 | 次のトークンを書く | GPT、LLaMA | 言語モデル、対話 |
#
# ここでは `Encoder`、`Transformer`、`Decoder(cross_attention=False)` に当たります。三つとも、まず大量のテキストで学習し（*事前学習*）、その後、少数の例で課題に合わせるか（*ファインチューニング*）、課題をテキストの中で与えます（*プロンプト*）。重みの数、データ、計算量を一緒に増やすと、損失は予測できる形で下がります。
#
# ## 演習
#
# ### 演習: もっと深い Transformer
#
# （11.7 節の 1）層を増やすと、速度と品質はどうなりますか。
#
# <details><summary>答え</summary>
#
# 層が 2 倍なら、時間も約 2 倍です。1 層から 16 層までの実測は [How cost grows](../../benchmarks/training.md#how-cost-grows)（英語）にあります。深いモデルの方が良いかどうかは、学習するトークンの数によります。このプロジェクトのコーパスで 10 分間学習すると、1 層ずつのモデルの方が、4 層と 2 層のモデルより多くを学びました（[Learning](../../benchmarks/learning.md)、英語）。post-norm で深くする場合は、学習率のウォームアップも必要です。
#
# </details>
#
# ### 演習: Transformer に加法アテンション
#
# （11.7 節の 2）スケール化内積の代わりに使うのは良い考えですか。
#
# <details><summary>答え</summary>
#
# 動きますが、高価です。内積なら $T \cdot S$ 個の数で済むところに、加法アテンションは $T \cdot S \cdot n$ 個の数を持ちます（[チュートリアル 1](1_attention_pooling.ipynb)）。また、一つの行列積では書けません。利点は、次元が大きくて内積のばらつきが大きすぎる場合にありました。それは $1/\sqrt{d}$ が解決します。
#
# </details>
#
# ### 演習: 言語モデル
#
# （11.7 節の 3）エンコーダー、デコーダー、それとも両方ですか。
#
# <details><summary>答え</summary>
#
# 上の節のように、デコーダーだけです。次のトークンを見てはいけないので、どの層にも因果マスクが必要で、読むべき原文もありません。エンコーダーには、予測すべきトークンが見えてしまいます。テキストが与えられている場合は、両方を使う方法もあります。エンコーダーが前半を読み、デコーダーが続きを書きます。
#
# </details>
#
# ### 演習: 一つのバッチに複数の課題
#
# （11.9 節の 1）T5 は、どのテキストにもテキストで答えます。ファインチューニングのバッチに複数の課題を混ぜられますか。GPT-2 ではどうですか。
#
# <details><summary>答え</summary>
#
# どちらもできます。T5 では課題が原文の一部で（"translate English to German: ..."）、どの課題もテキストからテキストへの同じ形、同じ損失です。だからバッチの行ごとに課題が違ってもよく、そろえるのはパディングだけです。GPT-2 では、課題と答えを一つの系列にします。`sample_weight` を使えば、答えの部分だけの損失を計算できます。
#
# </details>
#
# ### 演習: 言語モデルの用途
#
# （11.9 節の 2）強力な言語モデルで何ができますか。
#
# <details><summary>答え</summary>
#
# テキストの続きとして書けるものなら何でもできます。回答、要約、翻訳、プログラム、文法の修正、文章から表を作ることなどです。確率も役に立ちます。二つの文のうち自然な方を選ぶ、圧縮する、誤りを見つける、などです。ベクトルは検索に使えます。ただし、出力は確認が必要です。確率の高い文が正しいとは限りません。
#
# </details>
#
# ### 演習: テキスト分類
#
# （11.9 節の 3）言語モデルにクラスのための層を加えてファインチューニングします。どこに加えますか。
#
# <details><summary>答え</summary>
#
# 語彙への射影の代わりに、最後の位置の状態に加えます。因果マスクがあるので、テキスト全体を見たのは、パディングでない最後のトークンだけです。エンコーダーならどの位置でもよく、BERT は最初のトークンを使います。すべての位置の平均を使う方法もあります。
#
# </details>
#
# ### 演習: エンコーダーなしの翻訳
#
# （11.9 節の 4）原文全体は、訳文の最初のトークンの前に分かっています。デコーダーだけのモデルは何を失いますか。
#
# <details><summary>答え</summary>
#
# - 因果マスクのため、原文のトークンは、それより後の原文のトークンを参照できません。原文全体が分かっているのに、図では原文の表の半分に斜線があります。原文の部分だけマスクをなくせば解決します（*プレフィックス*言語モデル）。
# - 原文と訳文が一つの系列なので、訳文のトークンは両方にアテンションを分けなければならず、重みも共有されます。
# - クロスアテンションは、どの層でも完成したメモリを読みます。一つの系列では、各層が読むのは、一つ前の層を通った時点の原文です。
#
# </details>

# %% [markdown] lang="ko"
# ## 어떤 종류를 어디에 쓰나
#
# ![어느 토큰이 어느 토큰을 참조할 수 있는지의 표. 인코더에는 마스크가 없고, 디코더는 인과적이며, 인코더-디코더에는 번역문에서 원문으로 가는 크로스 어텐션이 있다.](../../pictures/kinds.svg)
#
# | 종류 | 어텐션 | 학습 목표 | 알려진 모델 | 쓰임 |
# |---|---|---|---|---|
# | 인코더만 | 모든 위치 | 숨긴 토큰 채우기 | BERT | 분류, 검색 |
# | 인코더-디코더 | 인코더: 모두, 디코더: 인과적, 크로스 어텐션 | 원문에서 번역문 쓰기 | T5, mBART | 번역, 요약 |
# | 디코더만 | 인과적 | 다음 토큰 쓰기 | GPT, LLaMA | 언어 모델, 대화 |
#
# 여기서는 `Encoder`, `Transformer`, `Decoder(cross_attention=False)`입니다. 셋 다 먼저 많은 텍스트로 학습하고(*사전 학습*), 그다음 적은 예로 과제에 맞추거나(*미세 조정*), 과제를 텍스트 안에서 줍니다(*프롬프트*). 가중치 수, 데이터, 계산량을 함께 늘리면 손실은 예측할 수 있게 줄어듭니다.
#
# ## 연습문제
#
# ### 연습: 더 깊은 트랜스포머
#
# (11.7절 1번) 층을 늘리면 속도와 품질은 어떻게 될까요?
#
# <details><summary>답</summary>
#
# 층이 두 배면 시간도 두 배쯤입니다. 1층부터 16층까지 잰 시간은 [How cost grows](../../benchmarks/training.md#how-cost-grows)(영어)에 있습니다. 깊은 모델이 더 나은지는 학습하는 토큰 수에 달렸습니다. 이 프로젝트의 말뭉치로 10분 학습했을 때, 양쪽에 한 층씩인 모델이 네 층과 두 층인 모델보다 더 많이 배웠습니다([Learning](../../benchmarks/learning.md), 영어). post-norm으로 깊게 쌓으려면 학습률 워밍업도 필요합니다.
#
# </details>
#
# ### 연습: 트랜스포머에 가산 어텐션
#
# (11.7절 2번) 스케일드 닷 프로덕트 대신 쓰는 것은 좋은 생각일까요?
#
# <details><summary>답</summary>
#
# 쓸 수는 있지만 비쌉니다. 내적이 $T \cdot S$개의 수로 될 때 가산 어텐션은 $T \cdot S \cdot n$개를 가집니다([튜토리얼 1](1_attention_pooling.ipynb)). 게다가 행렬 곱 하나로 쓸 수 없습니다. 장점은 차원이 커서 내적이 너무 크게 흩어질 때 있었는데, 그것은 $1/\sqrt{d}$가 해결합니다.
#
# </details>
#
# ### 연습: 언어 모델
#
# (11.7절 3번) 인코더, 디코더, 아니면 둘 다일까요?
#
# <details><summary>답</summary>
#
# 위의 절처럼 디코더만 씁니다. 다음 토큰을 보면 안 되므로 모든 층에 인과 마스크가 필요하고, 읽을 원문도 없습니다. 인코더에는 예측해야 할 토큰이 보입니다. 텍스트가 주어졌다면 둘 다 쓸 수도 있습니다. 인코더가 앞부분을 읽고 디코더가 이어서 씁니다.
#
# </details>
#
# ### 연습: 한 배치에 여러 과제
#
# (11.9절 1번) T5는 어떤 텍스트에나 텍스트로 답합니다. 미세 조정할 때 배치에 여러 과제를 섞을 수 있을까요? GPT-2에서는 어떨까요?
#
# <details><summary>답</summary>
#
# 둘 다 됩니다. T5에서는 과제가 원문의 일부이고("translate English to German: ..."), 모든 과제가 텍스트에서 텍스트로 가는 같은 꼴과 같은 손실입니다. 그래서 배치의 행마다 과제가 달라도 되고, 맞출 것은 패딩뿐입니다. GPT-2에서는 과제와 답이 한 시퀀스입니다. `sample_weight`를 쓰면 답 부분의 손실만 셀 수 있습니다.
#
# </details>
#
# ### 연습: 언어 모델의 쓰임
#
# (11.9절 2번) 강력한 언어 모델로 무엇을 할 수 있을까요?
#
# <details><summary>답</summary>
#
# 텍스트에 이어지는 텍스트로 쓸 수 있는 것은 무엇이든 됩니다. 답변, 요약, 번역, 프로그램, 문법 교정, 글에서 표를 만드는 일 등입니다. 확률도 쓸모가 있습니다. 두 문장 가운데 자연스러운 쪽 고르기, 압축, 오류 찾기 등입니다. 벡터는 검색에 씁니다. 다만 출력은 확인해야 합니다. 확률이 높은 문장이라고 언제나 참은 아닙니다.
#
# </details>
#
# ### 연습: 텍스트 분류
#
# (11.9절 3번) 언어 모델에 클래스를 위한 층을 더해 미세 조정합니다. 어디에 더할까요?
#
# <details><summary>답</summary>
#
# 어휘로 가는 투영 대신, 마지막 위치의 상태에 더합니다. 인과 마스크가 있으므로 텍스트 전체를 본 것은 패딩이 아닌 마지막 토큰뿐입니다. 인코더에서는 어느 위치라도 되며, BERT는 첫 토큰을 씁니다. 모든 위치의 평균을 쓰는 방법도 있습니다.
#
# </details>
#
# ### 연습: 인코더 없는 번역
#
# (11.9절 4번) 번역문의 첫 토큰을 쓰기 전에 원문 전체를 알고 있습니다. 디코더만 있는 모델은 무엇을 잃을까요?
#
# <details><summary>답</summary>
#
# - 인과 마스크 때문에 원문 토큰은 그 뒤의 원문 토큰을 참조하지 못합니다. 원문 전체를 아는데도 그림에서 원문 표의 절반에 빗금이 있습니다. 원문 부분의 마스크를 없애면 해결됩니다(*프리픽스* 언어 모델).
# - 원문과 번역문이 한 시퀀스이므로 번역문 토큰은 양쪽에 어텐션을 나누어야 하고, 둘이 같은 가중치를 씁니다.
# - 크로스 어텐션은 모든 층에서 완성된 메모리를 읽습니다. 한 시퀀스에서는 앞 층까지 지난 원문을 읽습니다.
#
# </details>

# %% [markdown]
# # 2 Self-attention and heads
#
# After this tutorial you can
#
# - compute self-attention, cross-attention and several heads by hand with $W^Q$, $W^K$, $W^V$ and $W^O$;
# - say why a token has three vectors, and why a layer has several heads;
# - read a causal mask, and tell what a head attends to.
#
# **Time:** 50 minutes, and 20 for the exercises. **You should know:** [tutorial 1](1_attention_pooling.ipynb), and that an embedding is a vector for a word. Terms: [glossary](../glossary.md). It covers sections 11.5 and 11.6.1 of [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html).

# %% [markdown] lang="ja"
# # 2 セルフアテンションとヘッド
#
# このチュートリアルを終えると、次のことができるようになります。
#
# - セルフアテンション、クロスアテンション、複数のヘッドを、$W^Q$、$W^K$、$W^V$、$W^O$ を使って手で計算する。
# - トークンが三つのベクトルを持つ理由と、レイヤーが複数のヘッドを持つ理由を説明する。
# - 因果マスクを読み、ヘッドがどこに注目しているかを見分ける。
#
# **所要時間:** 50 分。演習に 20 分。**前提知識:** [チュートリアル 1](1_attention_pooling.ipynb)と、埋め込みが単語のベクトルであること。用語は[用語集](../../glossary.md)にあります。[Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) の 11.5 節と 11.6.1 節に対応します。

# %% [markdown] lang="ko"
# # 2 셀프 어텐션과 헤드
#
# 이 튜토리얼을 마치면 다음을 할 수 있습니다.
#
# - 셀프 어텐션, 크로스 어텐션, 여러 헤드를 $W^Q$, $W^K$, $W^V$, $W^O$로 손으로 계산한다.
# - 토큰이 벡터 세 개를 가지는 이유와 레이어가 헤드를 여러 개 가지는 이유를 설명한다.
# - 인과 마스크를 읽고 헤드가 어디에 주의를 기울이는지 알아본다.
#
# **소요 시간:** 50분, 연습 문제에 20분. **미리 알아야 할 것:** [튜토리얼 1](1_attention_pooling.ipynb), 그리고 임베딩이 단어의 벡터라는 것. 용어는 [용어집](../../glossary.md)에 있습니다. [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)의 11.5절과 11.6.1절에 해당합니다.

# %%
import json
from importlib.resources import files

import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy
from matplotlib.figure import Figure

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(1)
np.set_printoptions(precision=2, suppress=True)
random = np.random.default_rng(0)


def print_table(names, rows, columns):
    print(" " * 8 + "".join(f"{column:>10}" for column in columns))
    for name, row in zip(names, convert_to_numpy(rows), strict=True):
        print(f"{name:8}" + "".join(f"{value:10.2f}" for value in row))


def agree(by_hand, of_layer):
    """Whether two tensors have the same numbers, up to rounding."""
    by_hand, of_layer = map(convert_to_numpy, (by_hand, of_layer))
    return np.allclose(by_hand, of_layer, atol=1e-5)


# %% [markdown]
# ## Words as vectors: directions have a meaning
#
# Attention mixes vectors of words. What a mixture can mean, embeddings show: words that occur in similar sentences get similar vectors, and a *difference* of two vectors is a relation. The difference from a country to its language is nearly the same for each country, so that $\mathrm{korean} - \mathrm{korea} + \mathrm{japan}$ lies next to *japanese*.
#
# Below, 40 short sentences are counted: which words stand together more often than by chance? A matrix factorisation makes vectors of 16 numbers from the counts. Nobody tells it what a country is.

# %% [markdown] lang="ja"
# ## ベクトルとしての単語: 方向には意味がある
#
# アテンションは単語のベクトルを混ぜます。混ぜたものが何を意味しうるかは、埋め込みを見ると分かります。似た文に現れる単語は似たベクトルになり、二つのベクトルの*差*は関係を表します。国からその言語への差はどの国でもほぼ同じなので、$\mathrm{korean} - \mathrm{korea} + \mathrm{japan}$ は *japanese* の隣に来ます。
#
# 下では短い文 40 個を数えます。どの単語が偶然より多く一緒に現れるでしょうか。行列分解が、その数から 16 次元のベクトルを作ります。国とは何かを教える人はいません。

# %% [markdown] lang="ko"
# ## 벡터로서의 단어: 방향에는 뜻이 있다
#
# 어텐션은 단어의 벡터를 섞습니다. 섞은 것이 무엇을 뜻할 수 있는지는 임베딩을 보면 알 수 있습니다. 비슷한 문장에 나오는 단어는 비슷한 벡터가 되고, 두 벡터의 *차이*는 관계를 나타냅니다. 나라에서 그 언어로 가는 차이는 어느 나라나 거의 같으므로 $\mathrm{korean} - \mathrm{korea} + \mathrm{japan}$은 *japanese* 옆에 놓입니다.
#
# 아래에서는 짧은 문장 40개를 셉니다. 어떤 단어들이 우연보다 자주 함께 나올까요? 행렬 분해가 그 수에서 16차원 벡터를 만듭니다. 나라가 무엇인지는 아무도 가르쳐 주지 않습니다.

# %%
places = [
    ("korea", "korean", "seoul", "kimchi", "won"),
    ("japan", "japanese", "tokyo", "sushi", "yen"),
    ("france", "french", "paris", "crepes", "francs"),
    ("spain", "spanish", "madrid", "paella", "pesetas"),
]
patterns = [
    "people in {0} eat {3} and pay with {4}",
    "people in {2} eat {3} and pay with {4}",
    "the word {3} is {1}",
    "the word {4} is {1}",
    "we fly to {0} for {3}",
    "we walk to a hotel in {2} for {3}",
    "he speaks and writes {1}",
    "she reads {1} at school",
    "{0} has mountains",
    "{2} has a station",
]
corpus = [p.format(*place).split() for place in places for p in patterns]
vocabulary = sorted({word for sentence in corpus for word in sentence})
counts = np.zeros((len(vocabulary), len(vocabulary)))
for sentence in corpus:
    ids = [vocabulary.index(word) for word in sentence]
    for i, a in enumerate(ids):
        for b in ids[:i] + ids[i + 1 :]:
            counts[a, b] += 1
by_chance = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
surprise = np.log(np.maximum(counts / by_chance, 1))
left, sizes, _ = np.linalg.svd(surprise)
embedding = left[:, :16] * np.sqrt(sizes[:16])
embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)


def nearest(word, minus, plus):
    """Word next to word - minus + plus, other than the three."""
    given = [vocabulary.index(one) for one in (word, minus, plus)]
    target = embedding[given].T @ [1, -1, 1]
    similarity = embedding @ target
    similarity[given] = -np.inf
    return vocabulary[similarity.argmax()]


for country, language, capital, *_ in places[1:]:
    print(f"korean - korea + {country:6} =", end=" ")
    print(f"{nearest('korean', 'korea', country):9}", end="")
    print("seoul - korea + ...", nearest("seoul", "korea", country))
    assert nearest("korean", "korea", country) == language
    assert nearest("seoul", "korea", country) == capital

# %% [markdown]
# ## Self-attention keeps the shape
#
# In self-attention, queries, keys and values come from the same sequence: each token attends to each token of its own sentence. From inputs $x_1, \ldots, x_n$ it makes as many outputs,
#
# $$y_i = f\bigl(x_i, (x_1, x_1), \ldots, (x_n, x_n)\bigr),$$
#
# where $x_i$ is the query, and each pair is a key with its value. It is also called *intra-attention*, attention within a sequence. The output has a vector for each token again, so such layers can be stacked.

# %% [markdown] lang="ja"
# ## セルフアテンションは入力の形状を保つ
#
# セルフアテンションでは、クエリ、キー、バリューは同じ系列から来ます。各トークンは、自分の文のすべてのトークンに注意を向けます。入力 $x_1, \ldots, x_n$ から、同じ数の出力を作ります。
#
# $$y_i = f\bigl(x_i, (x_1, x_1), \ldots, (x_n, x_n)\bigr)$$
#
# $x_i$ がクエリ、それぞれの組がキーとバリューです。系列の内部のアテンションなので、*イントラアテンション*（intra-attention）とも呼ばれます。出力もトークンごとのベクトルなので、レイヤーを重ねられます。

# %% [markdown] lang="ko"
# ## 셀프 어텐션은 입력의 형태를 유지한다
#
# 셀프 어텐션에서 쿼리, 키, 값은 같은 시퀀스에서 나옵니다. 각 토큰은 자기 문장의 모든 토큰에 주의를 기울입니다. 입력 $x_1, \ldots, x_n$에서 같은 수의 출력을 만듭니다.
#
# $$y_i = f\bigl(x_i, (x_1, x_1), \ldots, (x_n, x_n)\bigr)$$
#
# $x_i$가 쿼리이고, 각 쌍이 키와 값입니다. 시퀀스 안의 어텐션이므로 *인트라 어텐션*(intra-attention)이라고도 합니다. 출력도 토큰마다 벡터이므로 레이어를 쌓을 수 있습니다.

# %%
attention = keras_attn.MultiHeadAttention(100, num_heads=5, dropout=0.5)
x = np.ones((2, 4, 100))  # (B, T, D)
print(tuple(attention(x, x, x, valid_lens=np.array([3, 2])).shape))

# %% [markdown]
# ## Step by step on a Japanese sentence
#
# 妹 は 本 を 読む means "My sister reads a book": sister, topic marker, book, object marker, read. To follow each number by hand, each word gets a vector whose four features have a meaning. Trained vectors have no such names, but work the same way.
#
# A word plays three parts, so three matrices make three vectors of it:
#
# - the **query** $q_i = W^Q x_i$ is what the word looks for: here an action looks for a person and a thing, all others look for what happens;
# - the **key** $k_i = W^K x_i$ is what the word can be found by;
# - the **value** $v_i = W^V x_i$ is what it gives to those who attend to it. A particle can be found, but has nothing to give here: key and value are different vectors.
#
# With one vector for all three, $x_i \cdot x_j = x_j \cdot x_i$: a verb would attend to its object exactly as the object to its verb, and each word most of all to itself.

# %% [markdown] lang="ja"
# ## 日本語の文で順を追って計算する
#
# 文は「妹 は 本 を 読む」です。すべての数を手で追えるように、意味の分かる四つの特徴（person 人、thing 物、action 動作、particle 助詞）を持つベクトルを単語に与えます。学習したベクトルの特徴に名前はありませんが、働きは同じです。
#
# 単語には三つの役割があるので、三つの行列が三つのベクトルを作ります。
#
# - **クエリ** $q_i = W^Q x_i$ は、単語が探すものです。ここでは、動作は人と物を探し、それ以外は何が起きるかを探します。
# - **キー** $k_i = W^K x_i$ は、単語を見つける手がかりです。
# - **バリュー** $v_i = W^V x_i$ は、参照した相手に渡すものです。助詞は見つけてもらえますが、ここでは渡すものがありません。キーとバリューは別のベクトルです。
#
# 一つのベクトルで三役を兼ねると $x_i \cdot x_j = x_j \cdot x_i$ となり、動詞から目的語への注意と目的語から動詞への注意のスコアが等しくなります。しかも、どの単語も自分自身を最もよく参照することになります。

# %% [markdown] lang="ko"
# ## 일본어 문장으로 한 단계씩
#
# 문장은 妹 は 本 を 読む, "여동생은 책을 읽는다"입니다. 차례로 여동생, 주제 조사, 책, 목적격 조사, 읽다입니다. 모든 수를 손으로 따라갈 수 있도록, 뜻이 있는 네 특징(person 사람, thing 사물, action 동작, particle 조사)을 가진 벡터를 단어에 줍니다. 학습한 벡터의 특징에는 이름이 없지만 작동 방식은 같습니다.
#
# 단어는 세 가지 역할을 하므로 행렬 세 개가 벡터 세 개를 만듭니다.
#
# - **쿼리** $q_i = W^Q x_i$는 단어가 찾는 것입니다. 여기서 동작은 사람과 사물을 찾고, 나머지는 무슨 일이 일어나는지를 찾습니다.
# - **키** $k_i = W^K x_i$는 단어를 찾아낼 단서입니다.
# - **값** $v_i = W^V x_i$는 자기를 참조하는 단어에 주는 것입니다. 조사는 찾을 수 있지만 여기서는 줄 것이 없습니다. 키와 값은 서로 다른 벡터입니다.
#
# 벡터 하나로 세 역할을 하면 $x_i \cdot x_j = x_j \cdot x_i$이므로 동사가 목적어를 참조하는 스코어와 목적어가 동사를 참조하는 스코어가 같아집니다. 게다가 모든 단어가 자기 자신을 가장 많이 참조하게 됩니다.

# %%
words = ["妹", "は", "本", "を", "読む"]
roman = ["imouto", "wa", "hon", "o", "yomu"]
features = ["person", "thing", "action", "particle"]
x = np.zeros((5, 4), "float32")
x[range(5), [0, 3, 1, 3, 2]] = 2
print_table(roman, x, features)

# Rows: features of x. Columns of query and key: person, thing, other.
W_Q = np.array([[0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]], "float32")
W_K = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0.5]], "float32")
# Columns of the value: person, thing, action.
W_V = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], "float32")
queries, keys, values = x @ W_Q, x @ W_K, x @ W_V

# %% [markdown]
# **Step 1, query · key.** One number for each pair of words, divided by $\sqrt{d_k} = \sqrt{3}$:

# %% [markdown] lang="ja"
# **ステップ 1: クエリとキーの内積。** 単語の組ごとに一つの数を求め、$\sqrt{d_k} = \sqrt{3}$ で割ります。

# %% [markdown] lang="ko"
# **1단계, 쿼리와 키의 내적.** 단어의 쌍마다 수 하나를 구하고 $\sqrt{d_k} = \sqrt{3}$으로 나눕니다.

# %%
scores = queries @ keys.T / np.sqrt(3)
print_table(roman, scores, roman)

# %% [markdown]
# **Step 2, softmax.** Each row becomes weights that add up to 1. **Predict:** which two words get most of the row of 読む, and does any word get exactly 0?

# %% [markdown] lang="ja"
# **ステップ 2: ソフトマックス。** 各行が、合計 1 の重みになります。**予想してください。** 「読む」の行で重みの大きい二つの単語はどれでしょうか。ちょうど 0 になる単語はあるでしょうか。

# %% [markdown] lang="ko"
# **2단계, 소프트맥스.** 각 행은 합이 1인 가중치가 됩니다. **예상해 보세요.** 読む의 행에서 가중치가 큰 두 단어는 무엇일까요? 정확히 0이 되는 단어가 있을까요?

# %%
weights = ops.softmax(scores)
print_table(roman, weights, roman)

# %% [markdown]
# **Step 3, the sum of the values.** The new vector of 読む is the mean of all values with the weights of its row. It now says who reads and what is read. The layer computes the same:

# %% [markdown] lang="ja"
# **ステップ 3: バリューの和。** 「読む」の新しいベクトルは、その行の重みによる全バリューの平均です。誰が何を読むのかが、ベクトルに入りました。レイヤーの計算も同じです。

# %% [markdown] lang="ko"
# **3단계, 값의 합.** 読む의 새 벡터는 그 행의 가중치로 구한 모든 값의 평균입니다. 이제 누가 무엇을 읽는지가 벡터에 들어 있습니다. 레이어도 같은 계산을 합니다.

# %%
new_vectors = ops.matmul(weights, values)
print_table(roman, new_vectors, features[:3])

output, of_layer = keras_attn.DotProductAttention()(
    queries[None], keys[None], values[None], return_attention_scores=True
)
assert agree(new_vectors, output[0]) and agree(weights, of_layer[0])
plot_attention(of_layer, words, words)

# %% [markdown]
# ## Context moves a word's vector
#
# はし (hashi) can be chopsticks or a bridge, and the Korean 배 (bae) a pear or a ship. The vector alone cannot tell: it lies between two meanings. Self-attention moves it towards the words around it. In はし で 食べる ("eat with chopsticks") it moves to "tool", in はし を 渡る ("cross the bridge") to "place"; 배 를 먹다 is "eat a pear", 배 를 타다 "board a ship".

# %% [markdown] lang="ja"
# ## 文脈が単語のベクトルを動かす
#
# 「はし」は箸かもしれず、橋かもしれません。韓国語の 배（ペ）は梨か船です。単独のベクトルでは分からず、二つの意味の間にあります。セルフアテンションは、周りの単語の方へベクトルを動かします。「はし で 食べる」では道具の方へ、「はし を 渡る」では場所の方へ動きます。배 를 먹다は「梨を食べる」、배 를 타다は「船に乗る」です。

# %% [markdown] lang="ko"
# ## 문맥이 단어의 벡터를 움직인다
#
# 배는 먹는 배일 수도, 타는 배일 수도 있습니다. 일본어 はし(하시)는 젓가락일 수도, 다리(교량)일 수도 있습니다. 혼자 있는 벡터로는 알 수 없고 두 뜻 사이에 있습니다. 셀프 어텐션은 벡터를 주변 단어 쪽으로 옮깁니다. "배 를 먹다"에서는 도구와 음식 쪽으로, "배 를 타다"에서는 장소와 탈것 쪽으로 움직입니다. はし で 食べる("젓가락으로 먹다")와 はし を 渡る("다리를 건너다")도 마찬가지입니다.

# %%
# Features: something to eat or to eat with; something to go on.
meaning = {"eat": (2.0, 0.0), "go": (0.0, 2.0), "particle": (0.0, 0.0)}
sentences = {
    "はし で 食べる, hashi de taberu": "eat",
    "はし を 渡る, hashi o wataru": "go",
    "배 를 먹다, bae reul meokda": "eat",
    "배 를 타다, bae reul tada": "go",
}
layer = keras_attn.DotProductAttention()
moved = {}
for sentence, verb in sentences.items():
    z = np.array([[(1.0, 1.0), meaning["particle"], meaning[verb]]])
    moved[sentence] = convert_to_numpy(layer(z, z))[0, 0]
    print("[1. 1.] ->", moved[sentence], sentence)

# %% tags=["plot"]
figure = Figure((5, 4), layout="constrained")
axes = figure.subplots()
axes.plot(1, 1, "ko")
axes.annotate("hashi or bae, alone", (1, 1), (1.04, 1.02))
verbs = {"eat": "with a verb of eating", "go": "with a verb of going"}
for sentence, verb in list(sentences.items())[:2]:
    arrow = {"arrowstyle": "->"}
    axes.annotate("", moved[sentence], (1, 1), arrowprops=arrow)
    place = {"textcoords": "offset points", "ha": "center", "va": "top"}
    axes.annotate(verbs[verb], moved[sentence], (0, -6), **place)
axes.set_xlim(0, 1.8)
axes.set_ylim(0.3, 1.6)
axes.set_xlabel("to eat, or to eat with")
axes.set_ylabel("to go on")
figure

# %% [markdown]
# ## The same word at two positions
#
# 人 は 人 を 助ける, "a person helps a person". **Predict:** do the two 人 get the same output without a positional encoding? With one?

# %% [markdown] lang="ja"
# ## 二つの位置にある同じ単語
#
# 「人 は 人 を 助ける」。**予想してください。** 位置エンコーディングがないとき、二つの「人」の出力は同じでしょうか。あるときはどうでしょうか。

# %% [markdown] lang="ko"
# ## 두 위치에 있는 같은 단어
#
# 人 は 人 を 助ける, "사람은 사람을 돕는다". **예상해 보세요.** 위치 인코딩이 없으면 두 人의 출력은 같을까요? 있으면요?

# %%
ids = np.array([[1, 2, 1, 3, 4]])
for position in (None, "sinusoidal"):
    z = keras_attn.TokenEmbedding(5, 16, position=position)(ids)
    output = convert_to_numpy(keras_attn.MultiHeadAttention(16, 2)(z, z))
    distance = np.abs(output[0, 0] - output[0, 2]).max()
    print(f"position={position!s:11} largest difference {distance:.3f}")

# %% [markdown]
# Without positions, both have the same query and meet the same keys, so the outputs are equal: attention sees a bag of words. Tutorial [3](3_positions.ipynb) adds positions.
#
# ## The causal mask as a growing table
#
# A decoder writes one token after the other. While it is trained on whole sentences, query `t` may attend to keys up to `t` only; otherwise it could copy the answer. On paper, the scores above the diagonal are set to minus infinity before the softmax. The mask is a table that grows by one row and one column with each token:
#
# <!-- live: mask -->

# %% [markdown] lang="ja"
# 位置の情報がなければ、二つの「人」のクエリは同じで、参照するキーも同じなので、出力も等しくなります。アテンションには単語の集まりにしか見えません。[チュートリアル 3](3_positions.ipynb) で位置を加えます。
#
# ## 因果マスク: 1 行ずつ広がる表
#
# デコーダーはトークンを一つずつ書きます。学習では文全体を一度に与えるので、クエリ `t` が参照してよいのは `t` までのキーだけです。そうでなければ答えを写せてしまいます。紙の上では、対角線より上のスコアをソフトマックスの前にマイナス無限大にします。マスクは、トークンが増えるたびに 1 行 1 列ずつ広がる表です。
#
# <!-- live: mask -->

# %% [markdown] lang="ko"
# 위치 정보가 없으면 두 人은 쿼리가 같고 만나는 키도 같으므로 출력이 같습니다. 어텐션에는 단어의 모음으로만 보입니다. [튜토리얼 3](3_positions.ipynb)에서 위치를 더합니다.
#
# ## 인과 마스크: 한 줄씩 커지는 표
#
# 디코더는 토큰을 하나씩 씁니다. 학습할 때는 문장 전체를 한 번에 주므로 쿼리 `t`는 `t`까지의 키만 참조할 수 있습니다. 그렇지 않으면 답을 베낄 수 있습니다. 종이 위에서는 대각선 위의 스코어를 소프트맥스 앞에서 마이너스 무한대로 둡니다. 마스크는 토큰이 하나 늘 때마다 한 행과 한 열이 커지는 표입니다.
#
# <!-- live: mask -->

# %%
for length in range(1, 6):
    mask = np.tril(np.ones((length, length), int))
    print(f"after {' '.join(roman[:length])}")
    for row, word in zip(mask, roman, strict=False):
        print(f"    {word:8}", *row)

# %% [markdown]
# `use_causal_mask=True` is this mask. The weights above the diagonal are exactly 0, and a change of the last token changes no output before it:

# %% [markdown] lang="ja"
# `use_causal_mask=True` がこのマスクです。対角線より上の重みは厳密に 0 で、最後のトークンを変えても、それより前の出力は変わりません。

# %% [markdown] lang="ko"
# `use_causal_mask=True`가 이 마스크입니다. 대각선 위의 가중치는 정확히 0이고, 마지막 토큰을 바꾸어도 그 앞의 출력은 변하지 않습니다.

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=1)
x = random.normal(size=(1, 5, 8)).astype("float32")
before, weights = attention(
    x, x, use_causal_mask=True, return_attention_scores=True
)
changed = x.copy()
changed[0, -1] += 10
after = attention(changed, changed, use_causal_mask=True)
difference = convert_to_numpy(after) - convert_to_numpy(before)
print("change of each output:", np.abs(difference)[0].max(-1))
mask = np.tril(np.ones((5, 5), bool))
plot_attention(convert_to_numpy(weights)[0], words, words, mask=mask)

# %% [markdown]
# ## Cross-attention
#
# The two sides need not be one sequence. In cross-attention the queries come from one sequence, keys and values from another: a translation being written attends to the source. $T$ and $S$ may differ; the number of keys and of values must not. With $T = 3$ target tokens and $S = 4$ source tokens,
#
# $$Q: 3 \times d_k, \qquad K: 4 \times d_k, \qquad V: 4 \times d_v, \qquad \mathrm{weights}: 3 \times 4, \qquad \mathrm{output}: 3 \times d_v.$$
#
# Each target token gets one row of weights over the source, and one output.

# %% [markdown] lang="ja"
# ## クロスアテンション
#
# 二つの側が同じ系列である必要はありません。クロスアテンションでは、クエリは一つの系列から、キーとバリューは別の系列から来ます。書きかけの訳文が原文を参照するときがそうです。$T$ と $S$ は違ってもかまいませんが、キーとバリューの数は同じです。訳文が $T = 3$ トークン、原文が $S = 4$ トークンなら、
#
# $$Q: 3 \times d_k, \qquad K: 4 \times d_k, \qquad V: 4 \times d_v, \qquad \mathrm{weights}: 3 \times 4, \qquad \mathrm{output}: 3 \times d_v$$
#
# となります。訳文の各トークンが、原文に対する重みの行を一つと、出力を一つ得ます。

# %% [markdown] lang="ko"
# ## 크로스 어텐션
#
# 두 쪽이 같은 시퀀스일 필요는 없습니다. 크로스 어텐션에서 쿼리는 한 시퀀스에서, 키와 값은 다른 시퀀스에서 나옵니다. 쓰고 있는 번역문이 원문을 참조할 때가 그렇습니다. $T$와 $S$는 달라도 되지만 키와 값의 수는 같습니다. 번역문이 $T = 3$토큰, 원문이 $S = 4$토큰이면
#
# $$Q: 3 \times d_k, \qquad K: 4 \times d_k, \qquad V: 4 \times d_v, \qquad \mathrm{weights}: 3 \times 4, \qquad \mathrm{output}: 3 \times d_v$$
#
# 입니다. 번역문의 각 토큰이 원문에 대한 가중치 한 행과 출력 하나를 얻습니다.


# %%
def cross_attention(target, source, W_Q, W_K, W_V):
    q, k, v = target @ W_Q, source @ W_K, source @ W_V
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2))
    weights = ops.softmax(scores / np.sqrt(q.shape[-1]))  # (B, T, S)
    return ops.matmul(weights, v), weights


target = random.normal(size=(1, 3, 8)).astype("float32")
source = random.normal(size=(1, 4, 8)).astype("float32")
layer = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=1)
of_layer, weights_of_layer = layer(
    target, source, return_attention_scores=True
)
W_Q, W_K, W_V, W_O = layer.get_weights()
output, weights = cross_attention(target, source, W_Q, W_K, W_V)
assert agree(ops.matmul(output, W_O), of_layer)
assert agree(weights, weights_of_layer[:, 0])
print("weights", tuple(weights.shape), "output", tuple(output.shape))

# %% [markdown]
# ## Several heads by hand
#
# One softmax has one peak: a head that attends strongly to one word has little left for another. A sentence asks several questions at once. In *The bank by the river ran out of money*, the word *ran* needs its subject (*bank*, not *river*), and with *out of* another meaning than in a race; *bank* needs *money* to be told from the bank of a river. In 妹は本を読む, one head may find what は marks and another what を marks.
#
# Multi-head attention projects queries, keys and values, divides each into `H` parts of $d_k = D / H$ numbers, lets each part attend by itself, puts the results next to each other and projects once more:
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# ![Each head attends with its own part of the vectors; the output joins all heads](../pictures/heads.svg)
#
# **One product, then split.** A head has its own matrices of $D \times d_k$ numbers. Placed next to each other they are one matrix of $D \times D$: one large product computes all heads, and a reshape splits it. The multiplications are the same, but a processor computes one large product faster than many small ones. Thus several heads cost as many multiplications as one head of the same total width.
#
# **The role of $W^O$.** Side by side, the heads know nothing of each other. $W^O$ mixes them: each output number is a sum over all heads, and the width is $D$ again for the residual connection that follows.

# %% [markdown] lang="ja"
# ## 複数のヘッドを手で計算する
#
# 一つのソフトマックスには山が一つしかありません。ある単語に強く注意を向けたヘッドには、ほかの単語への重みがほとんど残りません。しかし文は同時にいくつもの問いを含みます。*The bank by the river ran out of money*（川のそばの銀行は資金が尽きた）では、*ran* には主語（*river* ではなく *bank*）が必要で、*out of* があるので競走の「走る」とは意味が違います。*bank* が「土手」でないことは *money* から分かります。「妹は本を読む」なら、一つのヘッドが「は」の示すものを、別のヘッドが「を」の示すものを見つけられます。
#
# マルチヘッドアテンションは、クエリ、キー、バリューを射影し、それぞれを $d_k = D / H$ 次元の `H` 個の部分に分けます。部分ごとにアテンションを計算し、結果を連結し、もう一度線形変換します。
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# ![各ヘッドがベクトルの自分の部分で注意を向け、出力はすべてのヘッドをまとめる](../../pictures/heads.svg)
#
# **積は一つにしてから分ける。** 各ヘッドは $D \times d_k$ の行列を持ちます。並べると $D \times D$ の行列になり、一つの大きな積で全ヘッドを計算し、reshape で分けられます。乗算の回数は同じですが、プロセッサは多数の小さな積より一つの大きな積を速く計算します。したがって、全体の次元が同じなら、乗算の回数はヘッドの数によりません。
#
# **$W^O$ の役割。** 並べただけでは、ヘッドは互いを知りません。$W^O$ がそれらを混ぜます。出力の各成分は全ヘッドについての和になり、次元は $D$ に戻るので、続く残差接続で足し合わせられます。

# %% [markdown] lang="ko"
# ## 여러 헤드를 손으로 계산하기
#
# 소프트맥스 하나에는 봉우리가 하나뿐입니다. 한 단어에 강하게 주의를 기울인 헤드에는 다른 단어에 줄 가중치가 거의 남지 않습니다. 그런데 문장에는 여러 물음이 한꺼번에 들어 있습니다. *The bank by the river ran out of money*(강가의 은행은 돈이 떨어졌다)에서 *ran*은 주어(*river*가 아니라 *bank*)가 필요하고, *out of*가 있으므로 달리기와는 뜻이 다릅니다. *bank*가 강둑이 아님은 *money*에서 알 수 있습니다. "여동생은 책을 읽는다"라면 한 헤드는 "은"이 나타내는 것을, 다른 헤드는 "을"이 나타내는 것을 찾을 수 있습니다.
#
# 멀티헤드 어텐션은 쿼리, 키, 값을 투영하고 각각을 $d_k = D / H$차원인 `H`개의 부분으로 나눕니다. 부분마다 어텐션을 계산하고, 결과를 이어 붙인(concat) 뒤 한 번 더 선형 변환합니다.
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_k}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# ![각 헤드가 벡터의 자기 부분으로 주의를 기울이고, 출력은 모든 헤드를 모은다](../../pictures/heads.svg)
#
# **곱은 한 번에, 그다음에 나눈다.** 각 헤드는 $D \times d_k$ 행렬을 가집니다. 나란히 놓으면 $D \times D$ 행렬이 되므로 큰 곱 하나로 모든 헤드를 계산하고 reshape로 나눕니다. 곱셈 횟수는 같지만 프로세서는 작은 곱 여럿보다 큰 곱 하나를 빨리 계산합니다. 따라서 전체 차원이 같으면 곱셈 횟수는 헤드의 수와 관계없습니다.
#
# **$W^O$의 역할.** 나란히 놓기만 하면 헤드는 서로를 모릅니다. $W^O$가 헤드를 섞습니다. 출력의 각 성분은 모든 헤드에 대한 합이 되고, 차원이 다시 $D$가 되므로 뒤따르는 잔차 연결에서 더할 수 있습니다.


# %%
def split(z, num_heads):
    """(B, T, D) to (B, H, T, K)."""
    batch, length, width = z.shape
    z = ops.reshape(z, (batch, length, num_heads, width // num_heads))
    return ops.swapaxes(z, 1, 2)


def multi_head_attention(x, W_Q, W_K, W_V, W_O, num_heads):
    q, k, v = (split(x @ W, num_heads) for W in (W_Q, W_K, W_V))
    scores = ops.matmul(q, ops.swapaxes(k, -1, -2))
    weights = ops.softmax(scores / np.sqrt(q.shape[-1]))  # (B, H, T, S)
    heads = ops.swapaxes(ops.matmul(weights, v), 1, 2)  # (B, T, H, K)
    return ops.matmul(ops.reshape(heads, x.shape), W_O), weights


attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=2)
of_layer = attention(x, x, return_attention_scores=True)
W_Q, W_K, W_V, W_O = attention.get_weights()
output, weights = multi_head_attention(x, W_Q, W_K, W_V, W_O, 2)
assert agree(output, of_layer[0]) and agree(weights, of_layer[1])

# Head by head: own columns of W_Q, W_K and W_V, own rows of W_O.
total = 0
for head in (slice(0, 4), slice(4, 8)):
    own = cross_attention(x, x, W_Q[:, head], W_K[:, head], W_V[:, head])
    total = total + ops.matmul(own[0], W_O[head])
assert agree(total, output)

# %% [markdown]
# ## One head against several
#
# One head makes one mean. A position that needs two things at once needs two. The task: from random tokens, name at each position the token *before* it and the *first* token of the sequence. Both models have the same number of weights. **Predict:** can one head do both?

# %% [markdown] lang="ja"
# ## ヘッド一つと複数の比較
#
# 一つのヘッドが作る平均は一つです。同時に二つのものが必要な位置には、平均が二つ要ります。課題は、ランダムなトークンの列の各位置で、*一つ前*のトークンと*先頭*のトークンを当てることです。二つのモデルの重みの数は同じです。**予想してください。** 一つのヘッドで両方できるでしょうか。

# %% [markdown] lang="ko"
# ## 헤드 하나와 여러 개
#
# 헤드 하나는 평균 하나를 만듭니다. 한 번에 두 가지가 필요한 위치에는 평균이 두 개 있어야 합니다. 과제는 무작위 토큰 열의 각 위치에서 *바로 앞* 토큰과 *첫* 토큰을 맞히는 것입니다. 두 모델의 가중치 수는 같습니다. **예상해 보세요.** 헤드 하나로 둘 다 할 수 있을까요?


# %%
def examples(number):
    ids = random.integers(1, 7, (number, 8))
    previous = np.concatenate([ids[:, :1], ids[:, :-1]], axis=1)
    first = np.repeat(ids[:, :1], 8, axis=1)
    return ids, [previous - 1, first - 1]


def make_model(num_heads):
    ids = keras.Input((8,), dtype="int32")
    x = keras_attn.TokenEmbedding(vocab_size=7, num_hiddens=32)(ids)
    layer = keras_attn.MultiHeadAttention(32, num_heads, name="attention")
    output, weights = layer(x, x, return_attention_scores=True)
    answers = [
        keras.layers.Dense(6, activation="softmax", name=name)(output)
        for name in ("previous", "first")
    ]
    model = keras.Model(ids, answers)
    model.compile(
        keras.optimizers.Adam(3e-3),
        "sparse_categorical_crossentropy",
        metrics=[["accuracy"]] * 2,
    )
    return model, keras.Model(ids, weights)


def accuracies(model):
    *_, previous, first = model.evaluate(test_ids, test_answers, verbose=0)
    return f"previous token right {previous:.0%}, first {first:.0%}"


train_ids, train_answers = examples(4000)
test_ids, test_answers = examples(500)
trained = {}
for num_heads in (1, 2):
    model, weights_of = make_model(num_heads)
    model.fit(train_ids, train_answers, batch_size=64, epochs=12, verbose=0)
    trained[num_heads] = model, weights_of
    print(f"{num_heads} head(s): {accuracies(model)}")

# %% [markdown]
# ### What different heads attend to
#
# With two heads, one attends to the token before, the other to the first token. Nobody told them to: the division lowers the loss. The single head has to divide its weight between both.

# %% [markdown] lang="ja"
# ### ヘッドごとに注目する場所が異なる
#
# ヘッドが二つあると、一つは一つ前のトークンに、もう一つは先頭のトークンに注目します。誰も指示していません。分担すると損失が下がるからです。ヘッドが一つだと、重みを両方に分けなければなりません。

# %% [markdown] lang="ko"
# ### 헤드마다 주의를 기울이는 곳이 다르다
#
# 헤드가 둘이면 하나는 바로 앞 토큰에, 다른 하나는 첫 토큰에 주의를 기울입니다. 누가 시킨 것이 아니라, 나누어 맡으면 손실이 줄어들기 때문입니다. 헤드가 하나면 가중치를 양쪽으로 나누어야 합니다.

# %%
sequence = test_ids[:1]
both = {
    f"{number} head(s)": convert_to_numpy(weights_of(sequence))
    for number, (_, weights_of) in trained.items()
}
tokens = [str(i) for i in sequence[0]]
plot_attention(both, tokens, tokens)

# %% [markdown]
# ### Heads of a translator
#
# The heads of the trained Japanese-to-English translator, in its cross-attention: rows are the pieces of the translation, columns those of 昨日、公園で犬を見ました。 ("I saw a dog in the park yesterday"). Look for heads that follow the words, and for heads that attend to the end of the sentence. The weights were stored with `Translator.attend`; tutorial [6](6_translator.ipynb) shows the call.

# %% [markdown] lang="ja"
# ### 翻訳モデルのヘッド
#
# 学習済みの日英翻訳モデルのクロスアテンションです。行は訳文のトークン、列は「昨日、公園で犬を見ました。」のトークンです。単語を追うヘッドと、文末に注目するヘッドを探してください。重みは `Translator.attend` で保存しました。呼び出し方は[チュートリアル 6](6_translator.ipynb) にあります。

# %% [markdown] lang="ko"
# ### 번역 모델의 헤드
#
# 학습한 일본어→영어 번역 모델의 크로스 어텐션입니다. 행은 번역문의 토큰, 열은 昨日、公園で犬を見ました。("어제 공원에서 개를 보았습니다.")의 토큰입니다. 단어를 따라가는 헤드와 문장 끝에 주의를 기울이는 헤드를 찾아보세요. 가중치는 `Translator.attend`로 저장했습니다. 호출하는 방법은 [튜토리얼 6](6_translator.ipynb)에 있습니다.

# %%
recorded = files("keras_attn.plots") / "translator.json"
stored = json.loads(recorded.read_text("utf-8"))["attention"]
plot_attention(
    np.array(stored["weights"])[0],
    stored["target_pieces"],
    stored["source_pieces"],
    mask=True,  # rounded to 0 does not mean masked
)

# %% [markdown]
# ### Exercise: how important is a head?
#
# You want to remove the least important heads of a trained layer. How do you measure what a head is worth? Measure it for the model with two heads.
#
# <details><summary>Answer</summary>
#
# Take the head away and measure what is lost. The rows of $W^O$ that belong to a head carry its output; with zeros there, the head adds nothing. Here each head has a task of its own, so each is needed. In large models many heads can be removed with little loss; a cheaper measure than trying each is the gradient of the loss with respect to a factor before each head. It must be measured on data that was not trained on.
#
# </details>

# %% [markdown] lang="ja"
# ### 演習: ヘッドの重要度
#
# 学習済みのレイヤーから、最も重要でないヘッドを取り除きたいとします。ヘッドの価値をどう測りますか。ヘッドが二つのモデルで測ってください。
#
# <details><summary>解答</summary>
#
# ヘッドを取り除き、何が失われるかを測ります。ヘッドの出力が通るのは、$W^O$ のうちそのヘッドの行です。そこを 0 にすれば、ヘッドは何も加えません。ここではヘッドごとに役割が違うので、どちらも必要です。大きなモデルでは、多くのヘッドを取り除いてもほとんど損失が増えません。一つずつ試すより安い方法は、各ヘッドの前に係数を置き、損失のその係数に関する勾配を見ることです。測定には学習に使わなかったデータを使います。
#
# </details>

# %% [markdown] lang="ko"
# ### 연습: 헤드의 중요도
#
# 학습한 레이어에서 가장 덜 중요한 헤드를 없애고 싶습니다. 헤드의 가치를 어떻게 재겠습니까? 헤드가 둘인 모델에서 재어 보세요.
#
# <details><summary>답</summary>
#
# 헤드를 없애고 무엇을 잃는지 잽니다. 헤드의 출력이 지나는 부분은 $W^O$에서 그 헤드에 속한 행입니다. 그 행을 0으로 하면 헤드는 아무것도 더하지 않습니다. 여기서는 헤드마다 맡은 일이 달라서 둘 다 필요합니다. 큰 모델에서는 많은 헤드를 없애도 손실이 거의 늘지 않습니다. 하나씩 시험하는 것보다 싼 방법은 각 헤드 앞에 계수를 두고 손실의 그 계수에 대한 기울기를 보는 것입니다. 학습에 쓰지 않은 데이터로 재야 합니다.
#
# </details>

# %% tags=["answer"]
model, _ = trained[2]
layer = model.get_layer("attention")
kernels = layer.get_weights()
for head in range(2):
    without = [kernel.copy() for kernel in kernels]
    without[3][head * 16 : (head + 1) * 16] = 0  # rows of W_O
    layer.set_weights(without)
    print(f"without head {head}: {accuracies(model)}")
layer.set_weights(kernels)

# %% [markdown]
# ## What to take along
#
# - A token has a query (what it looks for), a key (what it is found by) and a value (what it gives), made by three learned matrices.
# - Self-attention: all three from one sequence. Cross-attention: the queries from another one. The weights are $T \times S$.
# - Heads are attentions side by side; $W^O$ mixes them. Without positions, attention sees a bag of words.

# %% [markdown] lang="ja"
# ## まとめ
#
# - トークンには、クエリ（探すもの）、キー（見つける手がかり）、バリュー（渡すもの）があり、学習した三つの行列が作ります。
# - セルフアテンションでは三つとも同じ系列から、クロスアテンションではクエリが別の系列から来ます。重みは $T \times S$ です。
# - ヘッドは並んだアテンションで、$W^O$ がそれらを混ぜます。位置がなければ、アテンションには単語の集まりにしか見えません。

# %% [markdown] lang="ko"
# ## 정리
#
# - 토큰에는 쿼리(찾는 것), 키(찾아낼 단서), 값(주는 것)이 있고, 학습한 세 행렬이 만듭니다.
# - 셀프 어텐션에서는 셋 모두 한 시퀀스에서, 크로스 어텐션에서는 쿼리가 다른 시퀀스에서 나옵니다. 가중치는 $T \times S$입니다.
# - 헤드는 나란히 있는 어텐션이며 $W^O$가 섞습니다. 위치가 없으면 어텐션에는 단어의 모음으로만 보입니다.

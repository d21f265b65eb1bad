# %% [markdown]
# # 2 Self-attention and heads
#
# This tutorial covers sections 11.5 and 11.6.1 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html), in our own words and
# code: self-attention step by step on a Japanese sentence, the causal mask, and several heads. Tutorial
# [1 Attention pooling](1_attention_pooling.ipynb) comes before it.

# %% [markdown] lang="ja"
# # 2 自己注意とヘッド
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) の 11.5 節と 11.6.1 節に対応します。説明とコードは独自のものです。日本語の文での自己注意の計算、因果マスク、複数のヘッドを順に見ます。先に [1 アテンションプーリング](1_attention_pooling.ipynb)を読んでください。

# %% [markdown] lang="ko"
# # 2 셀프 어텐션과 헤드
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)의 11.5절과 11.6.1절에 해당합니다. 설명과 코드는 따로 쓴 것입니다. 일본어 문장으로 셀프 어텐션을 한 단계씩 계산하고, 인과 마스크와 여러 헤드를 봅니다. [1 어텐션 풀링](1_attention_pooling.ipynb)을 먼저 읽으세요.

# %%
import json
from importlib.resources import files

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

# %% [markdown] lang="ja"
# ## 自己注意は形を保つ
#
# 自己注意では、クエリ、キー、バリューは同じ系列を射影したものです。各トークンは、自分の文のすべてのトークンに注意を向けます。出力もトークンごとのベクトルなので、層を重ねられます。

# %% [markdown] lang="ko"
# ## 셀프 어텐션은 모양을 지킨다
#
# 셀프 어텐션에서 쿼리, 키, 값은 같은 시퀀스를 투영(projection)한 것입니다. 각 토큰은 자기 문장의 모든 토큰을 참조합니다. 출력도 토큰마다 벡터이므로 레이어를 쌓을 수 있습니다.

# %%
attention = keras_attn.MultiHeadAttention(
    num_hiddens=100, num_heads=5, dropout=0.5
)
x = np.ones((2, 4, 100))  # (B, T, D)
print(tuple(attention(x, x, x, valid_lens=np.array([3, 2])).shape))

# %% [markdown]
# ## Step by step on a Japanese sentence
#
# 妹 は 本 を 読む means "My sister reads a book": sister, topic marker, book, object marker, read. To follow each number by
# hand, we give each word a vector whose four features have a meaning. Trained vectors have no such names, but work the same
# way.

# %% [markdown] lang="ja"
# ## 日本語の文で一歩ずつ
#
# 文は「妹 は 本 を 読む」です。すべての数を手で追えるように、意味の分かる四つの特徴 (person 人、thing 物、action 動作、particle 助詞) を持つベクトルを単語に与えます。学習したベクトルの特徴に名前はありませんが、働きは同じです。

# %% [markdown] lang="ko"
# ## 일본어 문장으로 한 단계씩
#
# 문장은 妹 は 本 を 読む, "여동생은 책을 읽는다"입니다. 차례로 여동생, 주제 조사, 책, 목적격 조사, 읽다입니다. 모든 수를 손으로 따라갈 수 있도록, 뜻이 있는 네 특징(person 사람, thing 사물, action 동작, particle 조사)을 가진 벡터를 단어에 줍니다. 학습한 벡터의 특징에는 이름이 없지만 작동 방식은 같습니다.

# %%
words = ["妹", "は", "本", "を", "読む"]
roman = ["imouto", "wa", "hon", "o", "yomu"]
features = ["person", "thing", "action", "particle"]
vectors = np.array(
    [[2, 0, 0, 0], [0, 0, 0, 2], [0, 2, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]],
    "float32",
)
print_table(roman, vectors, features)

# %% [markdown]
# The projection of the queries says what a word looks for: here an action looks for a person and a thing, all others look
# for their own kind. Keys and values are the vectors themselves.
#
# **Step 1, query · key.** One number for each pair of words, divided by $\sqrt{d} = 2$:

# %% [markdown] lang="ja"
# クエリの射影は、単語が何を探すかを表します。ここでは、動作は人と物を探し、それ以外は自分と同じ種類を探します。キーとバリューはベクトルそのものです。
#
# **第 1 歩: クエリ・キー。** 単語の組ごとに一つの数を求め、$\sqrt{d} = 2$ で割ります。

# %% [markdown] lang="ko"
# 쿼리의 투영은 단어가 무엇을 찾는지를 나타냅니다. 여기서 동작은 사람과 사물을 찾고, 나머지는 자기와 같은 종류를 찾습니다. 키와 값은 벡터 그대로입니다.
#
# **1단계, 쿼리 · 키.** 단어의 쌍마다 수 하나를 구하고 $\sqrt{d} = 2$로 나눕니다.

# %%
query_matrix = np.array(
    [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1]], "float32"
)
queries = vectors @ query_matrix
scores = queries @ vectors.T / np.sqrt(4)
print_table(roman, scores, roman)

# %% [markdown]
# **Step 2, softmax.** Each row becomes weights that add up to 1. The row of 読む gives most weight to 妹 and 本:

# %% [markdown] lang="ja"
# **第 2 歩: ソフトマックス。** 各行が、合計 1 の重みになります。「読む」の行では、「妹」と「本」の重みが最も大きくなります。

# %% [markdown] lang="ko"
# **2단계, 소프트맥스.** 각 행은 합이 1인 가중치가 됩니다. 読む의 행에서는 妹와 本의 가중치가 가장 큽니다.

# %%
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
print_table(roman, weights, roman)

# %% [markdown]
# **Step 3, the sum of the values.** The new vector of 読む is the mean of all vectors with the weights of its row. It now
# says who reads and what is read:

# %% [markdown] lang="ja"
# **第 3 歩: バリューの和。** 「読む」の新しいベクトルは、その行の重みによる全ベクトルの平均です。誰が何を読むのかが、ベクトルに入りました。

# %% [markdown] lang="ko"
# **3단계, 값의 합.** 読む의 새 벡터는 그 행의 가중치로 구한 모든 벡터의 평균입니다. 이제 누가 무엇을 읽는지가 벡터에 들어 있습니다.

# %%
new_vectors = weights @ vectors
print_table(roman, new_vectors, features)
print()
for word, weight, vector in zip(roman, weights[-1], vectors, strict=True):
    print(f"{weight:.2f} x {vector}  {word}")
print(f"sum:   {new_vectors[-1]}")

# %% [markdown]
# The layer computes the same three steps:

# %% [markdown] lang="ja"
# 層も同じ三歩を計算します。

# %% [markdown] lang="ko"
# 층도 같은 세 단계를 계산합니다.

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

# %% [markdown] lang="ja"
# ## 文脈が単語のベクトルを動かす
#
# 「はし」は箸かもしれず、橋かもしれません。単独のベクトルでは分からず、tool（道具）と place（場所）の間にあります。自己注意は、周りの単語の方へベクトルを動かします。「はし で 食べる」では道具の方へ、「はし を 渡る」では場所の方へ動きます。

# %% [markdown] lang="ko"
# ## 문맥이 단어의 벡터를 움직인다
#
# はし(하시)는 젓가락일 수도, 다리(교량)일 수도 있습니다. 혼자 있는 벡터로는 알 수 없고, tool(도구)과 place(장소) 사이에 있습니다. 셀프 어텐션은 벡터를 주변 단어 쪽으로 옮깁니다. はし で 食べる("젓가락으로 먹다")에서는 도구 쪽으로, はし を 渡る("다리를 건너다")에서는 장소 쪽으로 움직입니다.

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
    sentences,
    ("hashi de taberu (eat)", "hashi o wataru (cross)"),
    strict=True,
):
    x = np.array([[meaning[word] for word in sentence]])
    moved = convert_to_numpy(layer(x, x))[0, 0]
    print(name, "->", moved)
    axes.annotate("", moved, (1, 1), arrowprops={"arrowstyle": "->"})
    axes.annotate(
        name,
        moved,
        (0, -6),
        textcoords="offset points",
        ha="center",
        va="top",
    )
axes.set_xlim(0.2, 1.8)
axes.set_ylim(0.3, 1.6)
axes.set_xlabel("tool")
axes.set_ylabel("place")
figure

# %% [markdown]
# ## The same word at two positions
#
# 人 は 人 を 助ける, "a person helps a person". Without positions, self-attention cannot tell the two 人 apart: same query,
# same keys, same output. A positional encoding added to the input makes them different. Tutorial [3](3_positions.ipynb) shows
# how it works.

# %% [markdown] lang="ja"
# ## 二つの位置にある同じ単語
#
# 「人 は 人 を 助ける」。位置の情報がないと、自己注意は二つの「人」を区別できません。クエリもキーも出力も同じです。位置エンコーディングを入力に加えると、別のものになります。仕組みは[チュートリアル 3](3_positions.ipynb) で説明します。

# %% [markdown] lang="ko"
# ## 두 위치에 있는 같은 단어
#
# 人 は 人 を 助ける, "사람은 사람을 돕는다". 위치 정보가 없으면 셀프 어텐션은 두 人을 구별하지 못합니다. 쿼리도 키도 출력도 같습니다. 입력에 위치 인코딩을 더하면 서로 달라집니다. 원리는 [튜토리얼 3](3_positions.ipynb)에 있습니다.

# %%
tokens = ["人", "は", "人", "を", "助ける"]
ids = np.array([[1, 2, 1, 3, 4]])
for position in (None, "sinusoidal"):
    x = keras_attn.TokenEmbedding(
        vocab_size=5, num_hiddens=16, position=position
    )(ids)
    output = convert_to_numpy(keras_attn.MultiHeadAttention(16, 2)(x, x))[0]
    distance = np.abs(output[0] - output[2]).max()
    print(
        f"position={position!s:12}",
        f"largest difference of the two outputs: {distance:.3f}",
    )

# %% [markdown]
# ## The causal mask as a growing table
#
# A decoder writes one token after the other. While it is trained on whole sentences, query `t` may attend to keys up to `t`
# only; otherwise it could copy the answer. The mask is a table that grows by one row and one column with each token:
#
# <!-- live: mask -->

# %% [markdown] lang="ja"
# ## 因果マスク: 1 行ずつ広がる表
#
# デコーダーはトークンを一つずつ書きます。学習では文全体を一度に与えるので、クエリ `t` が参照してよいのは `t` までのキーだけです。そうでなければ答えを写せてしまいます。マスクは、トークンが増えるたびに 1 行 1 列ずつ伸びる表です。
#
# <!-- live: mask -->

# %% [markdown] lang="ko"
# ## 인과 마스크: 한 줄씩 커지는 표
#
# 디코더는 토큰을 하나씩 씁니다. 학습할 때는 문장 전체를 한 번에 주므로, 쿼리 `t`는 `t`까지의 키에만 주의를 둘 수 있습니다. 그렇지 않으면 답을 베낄 수 있습니다. 마스크는 토큰이 하나 늘 때마다 한 행과 한 열이 자라는 표입니다.
#
# <!-- live: mask -->

# %%
for length in range(1, len(words) + 1):
    mask = np.tril(np.ones((length, length), int))
    print(f"after {' '.join(roman[:length])}")
    for row, word in zip(mask, roman, strict=False):
        print(f"    {word:8}", *row)

# %% [markdown]
# `use_causal_mask=True` is this mask. The weights above the diagonal are exactly 0, and a change of the last token changes
# no output before it:

# %% [markdown] lang="ja"
# `use_causal_mask=True` がこのマスクです。対角線より上の重みは正確に 0 で、最後のトークンを変えても、それより前の出力は変わりません。

# %% [markdown] lang="ko"
# `use_causal_mask=True`가 이 마스크입니다. 대각선 위의 가중치는 정확히 0이고, 마지막 토큰을 바꾸어도 그 앞의 출력은 변하지 않습니다.

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=1)
x = random.normal(size=(1, 5, 8))
before, weights = attention(
    x, x, use_causal_mask=True, return_attention_scores=True
)
changed = x.copy()
changed[0, -1] += 10
after = attention(changed, changed, use_causal_mask=True)
print(
    "change of each output:",
    np.abs(convert_to_numpy(after) - convert_to_numpy(before))[0].max(-1),
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

# %% [markdown] lang="ja"
# ## 複数のヘッドを手で計算する
#
# マルチヘッドアテンションは、クエリ、キー、バリューを射影し、それぞれを大きさ `K = D / H` の `H` 個の部分に分けます。部分ごとにアテンションを計算し、結果を並べて、もう一度射影します。
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{K}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# 全体の幅が同じなら、乗算の回数はヘッドの数によりません。

# %% [markdown] lang="ko"
# ## 여러 헤드를 손으로 계산하기
#
# 멀티헤드 어텐션은 쿼리, 키, 값을 투영하고 각각을 크기가 `K = D / H`인 `H`개의 부분으로 나눕니다. 부분마다 어텐션을 계산하고, 결과를 이어 붙인(concat) 뒤 한 번 더 선형 변환합니다.
#
# $$\mathrm{head}_h = \mathrm{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{K}}\right) V_h, \qquad \mathrm{output} = [\mathrm{head}_1, \ldots, \mathrm{head}_H] \, W^O$$
#
# 전체 폭이 같으면 곱셈 횟수는 헤드의 수와 관계없이 같습니다.

# %%
attention = keras_attn.MultiHeadAttention(num_hiddens=8, num_heads=2)
expected, expected_weights = attention(x, x, return_attention_scores=True)
query_kernel, key_kernel, value_kernel, output_kernel = (
    convert_to_numpy(w) for w in attention.weights
)


def split(z, num_heads=2):
    """(B, T, D) to (B, H, T, K)."""
    batch, length, width = z.shape
    return z.reshape(batch, length, num_heads, width // num_heads).swapaxes(
        1, 2
    )


q, k, v = (
    split(x @ query_kernel),
    split(x @ key_kernel),
    split(x @ value_kernel),
)
weights = convert_to_numpy(
    keras_attn.masked_softmax(q @ k.swapaxes(-1, -2) / np.sqrt(4))
)
heads = (weights @ v).swapaxes(1, 2).reshape(1, 5, 8)
print(
    "weights are equal:",
    np.allclose(weights, convert_to_numpy(expected_weights), atol=1e-5),
)
print(
    "output is equal:  ",
    np.allclose(
        heads @ output_kernel, convert_to_numpy(expected), atol=1e-5
    ),
)

# %% [markdown]
# ## One head against several
#
# One head makes one mean. A position that needs two things at once needs two. The task: from random tokens, name at each
# position the token *before* it and the *first* token of the sequence. Both models have the same number of weights.

# %% [markdown] lang="ja"
# ## ヘッド一つと複数の比較
#
# 一つのヘッドが作る平均は一つです。同時に二つのものが必要な位置には、平均が二つ要ります。課題は、ランダムなトークンの列の各位置で、*一つ前*のトークンと *先頭*のトークンを当てることです。二つのモデルの重みの数は同じです。

# %% [markdown] lang="ko"
# ## 헤드 하나와 여러 개
#
# 헤드 하나는 평균 하나를 만듭니다. 한 번에 두 가지가 필요한 위치에는 평균이 두 개 있어야 합니다. 과제는 무작위 토큰 열의 각 위치에서 *바로 앞* 토큰과 *첫* 토큰을 맞히는 것입니다. 두 모델의 가중치 수는 같습니다.


# %%
def examples(number):
    ids = random.integers(1, 7, (number, 8))
    previous = np.concatenate([ids[:, :1], ids[:, :-1]], axis=1)
    first = np.repeat(ids[:, :1], 8, axis=1)
    return ids, [previous - 1, first - 1]


def make_model(num_heads):
    ids = keras.Input((8,), dtype="int32")
    x = keras_attn.TokenEmbedding(vocab_size=7, num_hiddens=32)(ids)
    attention = keras_attn.MultiHeadAttention(
        32, num_heads, name="attention"
    )
    output, weights = attention(x, x, return_attention_scores=True)
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


train_ids, train_answers = examples(4000)
test_ids, test_answers = examples(500)
trained = {}
for num_heads in (1, 2):
    model, weights_of = make_model(num_heads)
    model.fit(train_ids, train_answers, batch_size=64, epochs=12, verbose=0)
    *_, previous, first = model.evaluate(test_ids, test_answers, verbose=0)
    trained[num_heads] = model, weights_of
    print(
        f"{num_heads} head(s): previous token right {previous:.0%},",
        f"first token right {first:.0%}",
    )

# %% [markdown]
# ### What different heads attend to
#
# With two heads, one attends to the token before, the other to the first token. Nobody told them to: they share the work
# because it lowers the loss. The single head has to divide its weight between both.

# %% [markdown] lang="ja"
# ### ヘッドごとに注意の向きが違う
#
# ヘッドが二つあると、一つは一つ前のトークンに、もう一つは先頭のトークンに注意を向けます。誰も指示していません。損失が下がるので、仕事を分けるのです。ヘッドが一つだと、重みを両方に分けなければなりません。

# %% [markdown] lang="ko"
# ### 헤드마다 주목하는 곳이 다르다
#
# 헤드가 둘이면 하나는 바로 앞 토큰에, 다른 하나는 첫 토큰에 주의를 기울입니다. 누가 시킨 것이 아니라, 손실이 줄어들기 때문에 일을 나눕니다. 헤드가 하나면 가중치를 양쪽으로 나누어야 합니다.

# %%
sequence = test_ids[:1]
both = {
    f"{number} head(s)": convert_to_numpy(weights_of(sequence))
    for number, (_, weights_of) in trained.items()
}
plot_attention(
    both, [str(i) for i in sequence[0]], [str(i) for i in sequence[0]]
)

# %% [markdown]
# ### Heads of a translator
#
# The heads of the trained Japanese-to-English translator, in its cross-attention: rows are the pieces of the translation,
# columns those of 昨日、公園で犬を見ました。 The weights were stored with `Translator.attend`; tutorial
# [6](6_translator.ipynb) shows the call.

# %% [markdown] lang="ja"
# ### 翻訳器のヘッド
#
# 学習済みの日英翻訳器のクロスアテンションです。行は訳文のトークン、列は「昨日、公園で犬を見ました。」のトークンです。重みは `Translator.attend` で保存しました。呼び方は[チュートリアル 6](../6_translator.ipynb)（英語）にあります。

# %% [markdown] lang="ko"
# ### 번역기의 헤드
#
# 학습한 일본어→영어 번역기의 크로스 어텐션입니다. 행은 번역문의 토큰, 열은 昨日、公園で犬を見ました。("어제 공원에서 개를 보았습니다.")의 토큰입니다. 가중치는 `Translator.attend`로 저장했습니다. 부르는 방법은 [튜토리얼 6](../6_translator.ipynb)(영어)에 있습니다.

# %%
recorded = files("keras_attn.plots") / "translator.json"
stored = json.loads(recorded.read_text("utf-8"))["attention"]
plot_attention(
    np.array(stored["weights"])[0],
    stored["target_pieces"],
    stored["source_pieces"],
)

# %% [markdown]
# ### Exercise: how important is a head?
#
# To prune a head, measure first what is lost without it. The rows of $W^O$ that belong to a head carry its output; with zeros
# there, the head says nothing. Then compare the accuracy. Here each head has a task of its own, so each is needed:

# %% [markdown] lang="ja"
# ### 演習: ヘッドの重要度
#
# ヘッドを取り除く前に、それがないと何が失われるかを測ります。あるヘッドの出力を運ぶのは、$W^O$ のうちそのヘッドの行です。そこを 0 にして、正解率を比べます。ここではヘッドごとに役割が違うので、どちらも必要です。

# %% [markdown] lang="ko"
# ### 연습: 헤드의 중요도
#
# 헤드를 없애기 전에, 없으면 무엇을 잃는지 먼저 잽니다. 헤드의 출력이 지나는 부분은 $W^O$에서 그 헤드에 속한 행입니다. 그 행을 0으로 바꾸고 정확도를 비교합니다. 여기서는 헤드마다 맡은 일이 달라서 둘 다 필요합니다.

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
        f"without head {head}: previous token right {previous:.0%},",
        f"first token right {first:.0%}",
    )
layer.set_weights(kernels)

# %% [markdown]
# Next: [3 Positions](3_positions.ipynb).

# %% [markdown] lang="ja"
# 次: [3 位置](3_positions.ipynb)

# %% [markdown] lang="ko"
# 다음: [3 위치](3_positions.ipynb)

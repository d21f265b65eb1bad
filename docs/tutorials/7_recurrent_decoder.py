# %% [markdown]
# # 7 A recurrent decoder with attention
#
# This tutorial covers section 11.4 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/bahdanau-attention.html): the model in which
# attention was first used for translation.
#
# - **You learn** to compute additive attention by hand, to build a recurrent encoder and decoder around it, and to see which alignment it
#   finds.
# - **Time:** 30 minutes; the cells run for about a minute.
# - **Before this:** [1 Attention pooling, scores and masks](1_attention_pooling.ipynb), and what a recurrent layer does
#   ([tutorial 4](4_cost.ipynb) has one in five lines).

# %% [markdown] lang="ja"
# # 7 アテンション付きの再帰型デコーダー
#
# このチュートリアルは [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/bahdanau-attention.html) の 11.4 節に対応します。アテンションが翻訳に初めて使われたモデルです。
#
# - **学ぶこと:** 加法アテンションを自分の手で計算し、再帰型のエンコーダーとデコーダーに組み込み、どのような対応が見つかるかを見ます。
# - **所要時間:** 30 分。セルの実行は 1 分ほどです。
# - **前提:** [1 アテンションプーリング、スコア、マスク](1_attention_pooling.ipynb)と、再帰レイヤーの働き（[チュートリアル 4](4_cost.ipynb) に 5 行の実装があります）。

# %% [markdown] lang="ko"
# # 7 어텐션이 있는 순환 디코더
#
# 이 튜토리얼은 [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/bahdanau-attention.html)의 11.4절에 해당합니다. 어텐션을 번역에 처음 쓴 모델입니다.
#
# - **배우는 것:** 가산 어텐션을 직접 계산하고, 순환 인코더와 디코더에 넣고, 어떤 대응을 찾아내는지 봅니다.
# - **시간:** 30분. 셀 실행에는 1분쯤 걸립니다.
# - **미리 알아 둘 것:** [1 어텐션 풀링, 스코어, 마스크](1_attention_pooling.ipynb)와 순환 레이어가 하는 일([튜토리얼 4](4_cost.ipynb)에 다섯 줄짜리 구현이 있습니다).

# %%
import keras
import numpy as np
from keras import ops
from keras.ops import convert_to_numpy

import keras_attn
from keras_attn.plots import plot_attention

keras.utils.set_random_seed(0)
random = np.random.default_rng(0)

# %% [markdown]
# ## One vector for a whole sentence
#
# A recurrent encoder reads the source token by token. Without attention, its last state is all that the decoder gets: one vector of a fixed
# size, for a short or a long sentence. Bahdanau, Cho and Bengio (2014) kept *all* states $h_1, \ldots, h_S$ of the encoder and let the
# decoder choose from them at each step. The state $s_{t-1}$ of the decoder is the query, the states of the encoder are keys and values:
#
# $$a(s_{t-1}, h_i) = w^\top \tanh(W_q s_{t-1} + W_k h_i), \qquad c_t = \sum_i \mathrm{softmax}_i\big(a(s_{t-1}, h_i)\big)\, h_i$$
#
# The context $c_t$ and the embedding of the last token are the input of the decoder's next step. The score is a small network with one
# hidden layer: query and key are projected to the same width and added.
#
# ## Additive attention by hand

# %% [markdown] lang="ja"
# ## 文全体を一つのベクトルに
#
# 再帰型のエンコーダーは、原文をトークンごとに読みます。アテンションがなければ、デコーダーが受け取るのは最後の状態だけです。短い文でも長い文でも、同じ次元の一つのベクトルです。Bahdanau、Cho、Bengio（2014）は、エンコーダーの*すべて*の状態 $h_1, \ldots, h_S$ を残し、デコーダーがステップごとにそこから選べるようにしました。デコーダーの状態 $s_{t-1}$ がクエリ、エンコーダーの状態がキーとバリューです。
#
# $$a(s_{t-1}, h_i) = w^\top \tanh(W_q s_{t-1} + W_k h_i), \qquad c_t = \sum_i \mathrm{softmax}_i\big(a(s_{t-1}, h_i)\big)\, h_i$$
#
# コンテキスト $c_t$ と直前のトークンの埋め込みが、デコーダーの次のステップの入力です。スコアは隠れ層が一つの小さなネットワークです。クエリとキーを同じ次元に射影して足します。
#
# ## 加法アテンションを自分の手で

# %% [markdown] lang="ko"
# ## 문장 전체를 벡터 하나에
#
# 순환 인코더는 원문을 토큰마다 읽습니다. 어텐션이 없으면 디코더가 받는 것은 마지막 상태뿐입니다. 문장이 짧든 길든 차원이 같은 벡터 하나입니다. Bahdanau, Cho, Bengio(2014)는 인코더의 *모든* 상태 $h_1, \ldots, h_S$를 남기고, 디코더가 단계마다 그 가운데서 고르게 했습니다. 디코더의 상태 $s_{t-1}$이 쿼리이고, 인코더의 상태들이 키와 값입니다.
#
# $$a(s_{t-1}, h_i) = w^\top \tanh(W_q s_{t-1} + W_k h_i), \qquad c_t = \sum_i \mathrm{softmax}_i\big(a(s_{t-1}, h_i)\big)\, h_i$$
#
# 문맥 $c_t$와 바로 앞 토큰의 임베딩이 디코더 다음 단계의 입력입니다. 스코어는 은닉층이 하나인 작은 네트워크입니다. 쿼리와 키를 같은 차원으로 투영해 더합니다.
#
# ## 가산 어텐션을 직접 계산하기

# %%
query = ops.convert_to_tensor(random.normal(size=(1, 1, 6)), "float32")
states = ops.convert_to_tensor(random.normal(size=(1, 4, 5)), "float32")
layer = keras_attn.AdditiveAttention(num_hiddens=8)
expected, expected_weights = layer(
    query, states, return_attention_scores=True
)
of_query, of_key, of_score = layer.weights


def additive_attention(query, states):
    q = (query @ of_query)[:, :, None]  # (B, T, 1, n)
    k = (states @ of_key)[:, None]  # (B, 1, S, n)
    scores = (ops.tanh(q + k) @ of_score)[..., 0]  # (B, T, S)
    weights = ops.softmax(scores)
    return weights @ states, weights


context, weights = additive_attention(query, states)
assert np.allclose(context, expected, atol=1e-5)
assert np.allclose(weights, expected_weights, atol=1e-5)
print("weights", convert_to_numpy(weights)[0, 0].round(2))

# %% [markdown]
# ## A toy task: dates
#
# The source is a Japanese date, year before month before day. The target is the English date: day, month, year. So the decoder must read
# the source in another order than it is written. The pairs are generated.

# %% [markdown] lang="ja"
# ## 小さな課題: 日付
#
# 原文は日本語の日付で、年、月、日の順です。訳文は英語の日付で、日、月、年の順です。そのためデコーダーは、原文を書かれた順とは違う順で読まなければなりません。対訳は生成します。

# %% [markdown] lang="ko"
# ## 작은 과제: 날짜
#
# 원문은 일본어 날짜로, 연, 월, 일 순서입니다. 번역문은 영어 날짜로, 일, 월, 연 순서입니다. 그래서 디코더는 원문을 쓰인 순서와 다르게 읽어야 합니다. 문장 쌍은 생성합니다.

# %%
months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
SOURCE = ["", *"0123456789年月日"]  # id 0 is padding
TARGET = ["", "<begin>", "<end>", *"0123456789", *months]
SOURCE_LENGTH, TARGET_LENGTH = 11, 8


def pair():
    year, month, day = random.integers([1950, 1, 1], [2050, 13, 29])
    english = [*str(day), months[month - 1], *str(year), "<end>"]
    return [*f"{year}年{month}月{day}日"], english


def to_ids(tokens, vocabulary, length):
    ids = [vocabulary.index(token) for token in tokens]
    return ids + [0] * (length - len(ids))


def examples(number):
    pairs = [pair() for _ in range(number)]
    source = [to_ids(p[0], SOURCE, SOURCE_LENGTH) for p in pairs]
    target = [to_ids(p[1], TARGET, TARGET_LENGTH) for p in pairs]
    return np.array(source), np.array(target)


source, target = examples(6000)
test_source, test_target = examples(500)
print(
    *[SOURCE[i] for i in source[0]], "->", *[TARGET[i] for i in target[0]]
)

# %% [markdown]
# ## Encoder and decoder
#
# The encoder is a GRU. The decoder is a single GRU cell, which we call once for each target token: attention first, then the step. In
# training, the right token is the next input; without a target, the most probable token is. Padding of the source is masked by its valid
# length.

# %% [markdown] lang="ja"
# ## エンコーダーとデコーダー
#
# エンコーダーは GRU です。デコーダーは一つの GRU セルで、訳文のトークンごとに一度呼び出します。まずアテンション、次にステップです。学習では正しいトークンが次の入力になり、訳文がないときは最も確率の高いトークンが次の入力になります。原文のパディングは有効長でマスクします。

# %% [markdown] lang="ko"
# ## 인코더와 디코더
#
# 인코더는 GRU입니다. 디코더는 GRU 셀 하나이고, 번역문 토큰마다 한 번씩 부릅니다. 먼저 어텐션, 그다음 한 단계입니다. 학습할 때는 올바른 토큰이 다음 입력이고, 번역문이 없을 때는 확률이 가장 높은 토큰이 다음 입력입니다. 원문의 패딩은 유효 길이로 가립니다.


# %%
class RecurrentTranslator(keras.Model):
    def __init__(self, attention=None, cell=keras.layers.GRUCell, units=64):
        super().__init__()
        self.embed_source = keras.layers.Embedding(len(SOURCE), 32)
        self.embed_target = keras.layers.Embedding(len(TARGET), 32)
        self.encoder = keras.layers.RNN(
            cell(units),
            return_sequences=True,
            return_state=True,
            unroll=True,
        )
        self.attention = attention
        self.cell = cell(units)
        self.to_logits = keras.layers.Dense(len(TARGET))

    def call(self, inputs, return_attention_scores=False):
        """Logits; the next input is the right token, or the best."""
        source, target = (
            inputs if isinstance(inputs, tuple) else (inputs, None)
        )
        lengths = ops.sum(ops.cast(source != 0, "int32"), axis=1)
        memory, *state = self.encoder(self.embed_source(source))
        last = memory[:, -1:]
        token = ops.ones_like(source[:, 0])  # <begin>
        logits, weights = [], []
        for t in range(TARGET_LENGTH):
            context = last
            if self.attention:
                context, of_step = self.attention(
                    state[0][:, None],
                    memory,
                    valid_lens=lengths,
                    return_attention_scores=True,
                )
                weights.append(of_step)
            x = ops.concatenate(
                [context[:, 0], self.embed_target(token)], axis=-1
            )
            output, state = self.cell(x, state)
            logits.append(self.to_logits(output))
            best = ops.argmax(logits[-1], axis=-1)
            token = best if target is None else target[:, t]
        logits = ops.stack(logits, axis=1)
        if return_attention_scores:
            return logits, ops.concatenate(weights, axis=1)
        return logits


# %% [markdown]
# **Predict:** we train twice, with additive attention and without attention. Without, the context is the last state of the encoder at each
# step. A date has eleven characters at most. Is one vector of 64 numbers enough for it?

# %% [markdown] lang="ja"
# **予想してください:** 加法アテンションありと、アテンションなしで、二度学習させます。なしの場合、コンテキストはどのステップでもエンコーダーの最後の状態です。日付は長くても 11 文字です。64 次元のベクトル一つで足りるでしょうか。

# %% [markdown] lang="ko"
# **예상해 보세요:** 가산 어텐션이 있는 모델과 어텐션이 없는 모델을 학습시킵니다. 없는 쪽의 문맥은 모든 단계에서 인코더의 마지막 상태입니다. 날짜는 길어야 열한 글자입니다. 64차원 벡터 하나로 충분할까요?

# %%
loss = keras.losses.SparseCategoricalCrossentropy(
    from_logits=True, ignore_class=0
)


def train(attention, cell=keras.layers.GRUCell, epochs=6):
    keras.utils.set_random_seed(0)
    model = RecurrentTranslator(attention, cell)
    # Compiling these small steps with XLA takes longer than running them.
    model.compile(keras.optimizers.Adam(0.01), loss, jit_compile=False)
    model.fit(
        (source, target), target, batch_size=256, epochs=epochs, verbose=0
    )
    found = convert_to_numpy(model(test_source)).argmax(-1)
    is_right = (found == test_target) | (test_target == 0)
    print(f"dates that are right: {is_right.all(-1).mean():.0%}")
    return model


model = train(keras_attn.AdditiveAttention(num_hiddens=64))

# %%
without_attention = train(None)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Here they are nearly equal. A date is short: one vector of 64 numbers can hold it, if there are enough examples to learn how. Bahdanau et
# al. compared both models on sentences: without attention, the quality fell from about 20 words on; with attention, it did not fall up to 50 words.
# What attention adds already here is the picture below: we can see where each token comes from.
#
# </details>
#
# ## The alignment
#
# A row is a token that is written, a column a character of the source. Nobody told the model which belong together.

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# ここではほとんど差がありません。日付は短く、例が十分にあれば、64 次元のベクトル一つに収められます。Bahdanau らは二つのモデルを文で比べました。アテンションなしでは 20 語あたりから質が下がりましたが、アテンションありでは 50 語まで下がりませんでした。ここでもアテンションで得られるものがあります。下の図のように、各トークンがどこから来たかが見えます。
#
# </details>
#
# ## 対応
#
# 行は書かれたトークン、列は原文の文字です。どれとどれが対応するかは、誰も教えていません。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# 여기서는 거의 같습니다. 날짜는 짧아서, 예가 충분하면 64차원 벡터 하나에 담을 수 있습니다. Bahdanau 등은 두 모델을 문장으로 비교했습니다. 어텐션이 없으면 20단어쯤부터 품질이 떨어졌고, 있으면 50단어까지 떨어지지 않았습니다. 여기서도 어텐션이 주는 것이 있습니다. 아래 그림처럼 각 토큰이 어디에서 왔는지 보입니다.
#
# </details>
#
# ## 대응
#
# 행은 쓴 토큰, 열은 원문의 글자입니다. 무엇이 무엇에 대응하는지는 아무도 알려 주지 않았습니다.

# %%
example = test_source[:1]
logits, weights = model(example, return_attention_scores=True)
written = convert_to_numpy(logits)[0].argmax(-1)
length = int((example != 0).sum())
rows = [TARGET[i] for i in written]
columns = [SOURCE[i] for i in example[0, :length]]
weights = convert_to_numpy(weights)[0, : len(rows), :length]
print(*columns, "->", *rows)
plot_attention(weights, rows, columns)

# %% [markdown]
# A state of the encoder has already read the characters before it. So attention may rest on a neighbour, such as 月 or 日, instead of the digit
# itself.
#
# ## From here to the Transformer
#
# | | Bahdanau et al. 2014 | Luong et al. 2015 | Transformer 2017 |
# |---|---|---|---|
# | query | state of the decoder before the step | state after the step | projection of each target token |
# | keys and values | states of the encoder, the same for both | the same | two projections of the memory |
# | score | additive | dot product or $q^\top W k$ | scaled dot product, several heads |
# | order of tokens | from the recurrence | from the recurrence | from positional encodings |
# | within one sentence | recurrence | recurrence | self-attention |
# | training | step by step | step by step | all positions at once |
#
# `AdditiveAttention`, `DotProductAttention` and `BilinearAttention` are these scores.
#
# ## Exercises
#
# ### Exercise: another recurrent cell
#
# Section 11.4, no. 1. Replace the GRU with an LSTM.
#
# <details><summary>Answer</summary>
#
# ```python
# train(keras_attn.AdditiveAttention(num_hiddens=64), keras.layers.LSTMCell)
# ```
#
# An LSTM cell has two states; the first is its output and the query here.
#
# </details>
#
# ### Exercise: another score
#
# Section 11.4, no. 2. Replace additive attention with the scaled dot product. How does that change the training?
#
# <details><summary>Answer</summary>
#
# ```python
# train(keras_attn.DotProductAttention())
# ```
#
# The dot product has no weights of its own, so the states of encoder and decoder must have the same width, and they must learn
# to be comparable. It is a single matrix product and needs no memory for $T \cdot S \cdot n$ sums; with one query a step, this hardly matters.
#
# </details>
#
# ### Exercise: longer sequences
#
# Why does attention gain more on long sentences than on short dates?
#
# <details><summary>Answer</summary>
#
# The last state has the same size for each length, so a longer sentence leaves less of each word in it, and the first words have passed through the most
# steps. With attention, each word is one step away from each target token.
#
# </details>

# %% [markdown] lang="ja"
# エンコーダーの状態は、それより前の文字をすでに読んでいます。そのためアテンションは、数字そのものではなく、月や日のような隣の文字に向くこともあります。
#
# ## ここから Transformer へ
#
# | | Bahdanau ほか 2014 | Luong ほか 2015 | Transformer 2017 |
# |---|---|---|---|
# | クエリ | ステップの前のデコーダーの状態 | ステップの後の状態 | 訳文の各トークンの射影 |
# | キーとバリュー | エンコーダーの状態（両方とも同じ） | 同じ | メモリの二つの射影 |
# | スコア | 加法 | 内積、または $q^\top W k$ | スケール化内積、複数のヘッド |
# | トークンの順序 | 再帰から | 再帰から | 位置エンコーディングから |
# | 一つの文の中 | 再帰 | 再帰 | 自己注意 |
# | 学習 | 1 ステップずつ | 1 ステップずつ | すべての位置を一度に |
#
# `AdditiveAttention`、`DotProductAttention`、`BilinearAttention` がこれらのスコアです。
#
# ## 演習
#
# ### 演習: 別の再帰セル
#
# （11.4 節の 1）GRU を LSTM に置き換えてください。
#
# <details><summary>答え</summary>
#
# ```python
# train(keras_attn.AdditiveAttention(num_hiddens=64), keras.layers.LSTMCell)
# ```
#
# LSTM セルには状態が二つあります。一つ目が出力で、ここではクエリになります。
#
# </details>
#
# ### 演習: 別のスコア
#
# （11.4 節の 2）加法アテンションをスケール化内積に置き換えてください。学習はどう変わりますか。
#
# <details><summary>答え</summary>
#
# ```python
# train(keras_attn.DotProductAttention())
# ```
#
# 内積には重みがないので、エンコーダーとデコーダーの状態は同じ次元でなければならず、互いに比べられるように学習する必要があります。一つの行列積なので、$T \cdot S \cdot n$ 個の和のためのメモリは不要です。ただし、ステップごとにクエリが一つなら、ほとんど差はありません。
#
# </details>
#
# ### 演習: もっと長い系列
#
# アテンションの利点が、短い日付より長い文で大きいのはなぜですか。
#
# <details><summary>答え</summary>
#
# 最後の状態の次元は、長さによらず同じです。文が長いほど、各単語について残るものは少なくなり、最初の単語は最も多くのステップを通ります。アテンションがあれば、どの単語も、訳文の各トークンから 1 ステップの距離にあります。
#
# </details>

# %% [markdown] lang="ko"
# 인코더의 상태는 그 앞의 글자를 이미 읽었습니다. 그래서 어텐션은 숫자가 아니라 月이나 日 같은 이웃 글자에 머물 수도 있습니다.
#
# ## 여기서 트랜스포머까지
#
# | | Bahdanau 등 2014 | Luong 등 2015 | 트랜스포머 2017 |
# |---|---|---|---|
# | 쿼리 | 단계 전의 디코더 상태 | 단계 뒤의 상태 | 번역문 토큰마다의 투영 |
# | 키와 값 | 인코더의 상태(둘이 같음) | 같음 | 메모리의 두 투영 |
# | 스코어 | 가산 | 내적 또는 $q^\top W k$ | 스케일드 닷 프로덕트, 여러 헤드 |
# | 토큰의 순서 | 순환에서 | 순환에서 | 위치 인코딩에서 |
# | 한 문장 안 | 순환 | 순환 | 셀프 어텐션 |
# | 학습 | 한 단계씩 | 한 단계씩 | 모든 위치를 한꺼번에 |
#
# `AdditiveAttention`, `DotProductAttention`, `BilinearAttention`이 이 스코어들입니다.
#
# ## 연습문제
#
# ### 연습: 다른 순환 셀
#
# (11.4절 1번) GRU를 LSTM으로 바꾸세요.
#
# <details><summary>답</summary>
#
# ```python
# train(keras_attn.AdditiveAttention(num_hiddens=64), keras.layers.LSTMCell)
# ```
#
# LSTM 셀에는 상태가 둘 있습니다. 첫째가 출력이고 여기서는 쿼리입니다.
#
# </details>
#
# ### 연습: 다른 스코어
#
# (11.4절 2번) 가산 어텐션을 스케일드 닷 프로덕트로 바꾸세요. 학습은 어떻게 달라질까요?
#
# <details><summary>답</summary>
#
# ```python
# train(keras_attn.DotProductAttention())
# ```
#
# 내적에는 자기 가중치가 없으므로, 인코더와 디코더의 상태는 차원이 같아야 하고 서로 비교할 수 있도록 학습되어야 합니다. 행렬 곱 하나라서 $T \cdot S \cdot n$개의 합을 위한 메모리가 필요 없습니다. 단계마다 쿼리가 하나면 차이는 거의 없습니다.
#
# </details>
#
# ### 연습: 더 긴 시퀀스
#
# 어텐션의 이득이 짧은 날짜보다 긴 문장에서 큰 까닭은 무엇일까요?
#
# <details><summary>답</summary>
#
# 마지막 상태의 차원은 길이와 관계없이 같습니다. 문장이 길수록 각 단어에 대해 남는 것이 적고, 첫 단어들은 가장 많은 단계를 지납니다. 어텐션이 있으면 어느 단어든 번역문의 각 토큰에서 한 단계 거리에 있습니다.
#
# </details>

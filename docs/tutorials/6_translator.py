# %% [markdown]
# # 6 The translator
#
# From sentences to a server. This tutorial shows on a real corpus what section 11.7.6 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) trains on a small one.
#
# - **You learn** how subwords are made, which steps lead from a file of sentences to a translator, how to read its scores, and how to look
#   at its attention.
# - **Time:** 30 minutes; the cells run for seconds.
# - **Before this:** [5 A Transformer from its parts](5_transformer.ipynb). To train a translator yourself, you need the translator's
#   packages ([Get started](../get_started.md)).
#
# A training takes ten minutes, so it is not repeated here. `keras-attn train` ran once on two cores of a server (AMD EPYC, Zen 4), in
# bfloat16. The cells below show the stored answers of this model, and the text shows the command or call that gives them.

# %% [markdown] lang="ja"
# # 6 翻訳モデル
#
# 文からサーバーまで。[Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) の 11.7.6 節が小さなコーパスで学習することを、実際のコーパスで見ます。
#
# - **学ぶこと:** サブワードの作り方、文のファイルから翻訳モデルまでの手順、スコアの読み方、アテンションの見方。
# - **所要時間:** 30 分。セルの実行は数秒です。
# - **前提:** [5 部品から組み立てる Transformer](5_transformer.ipynb)。自分で翻訳モデルを学習させるには、翻訳用のパッケージが必要です（[Get started](../../get_started.md)、英語）。
#
# 学習には 10 分かかるので、ここでは行いません。サーバー（AMD EPYC、Zen 4）の 2 コアで、bfloat16 を使い、`keras-attn train` を一度実行しました。下のセルはそのモデルの保存された答えを表示し、本文はそれを得るコマンドや呼び出しを示します。

# %% [markdown] lang="ko"
# # 6 번역기
#
# 문장에서 서버까지. [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html)의 11.7.6절이 작은 말뭉치로 학습하는 것을 실제 말뭉치로 봅니다.
#
# - **배우는 것:** 서브워드를 만드는 방법, 문장 파일에서 번역기까지의 과정, 스코어를 읽는 법, 어텐션을 보는 법.
# - **시간:** 30분. 셀 실행은 몇 초입니다.
# - **미리 알아 둘 것:** [5 부품으로 만드는 트랜스포머](5_transformer.ipynb). 번역기를 직접 학습시키려면 번역기용 패키지가 필요합니다([Get started](../../get_started.md), 영어).
#
# 학습에는 10분이 걸리므로 여기서 되풀이하지 않습니다. 서버(AMD EPYC, Zen 4)의 코어 두 개에서 bfloat16으로 `keras-attn train`을 한 번 실행했습니다. 아래 셀은 그 모델의 저장된 답을 보여 주고, 본문은 그 답을 얻는 명령이나 호출을 보여 줍니다.

# %%
import json
from collections import Counter
from importlib.resources import files
from io import BytesIO
from itertools import pairwise

import numpy as np
import sentencepiece
from matplotlib.figure import Figure

from keras_attn.plots import plot_attention

recorded = files("keras_attn.plots") / "translator.json"
stored = json.loads(recorded.read_text("utf-8"))

# %% [markdown]
# ## Sentences
#
# A corpus is a file: source TAB target in each line. The default corpus has four parts. `tatoeba` are 203,000 real pairs, fetched once with
# `jmdict`, the words of a dictionary. `everyday` are 172,000 pairs from a grammar and a lexicon, `situations` 195,000 as people type them; both
# ship with the project. [Your own sentences](../how_to/own_sentences.md) shows how to use others.
#
# ## Text becomes tokens
#
# A model needs a finite vocabulary. Whole words are too many, and a new word has no id. Characters are few, but sentences become long, and a
# character says little. *Subwords*, or *pieces*, are between both: frequent words are one piece, rare words are several, and characters
# cover the rest. Japanese has no spaces between words, so pieces are the only units there.
#
# *Byte pair encoding* (BPE) makes pieces from counts alone. Begin with characters, where `▁` marks the beginning of a word. Join the most
# frequent pair of neighbours into a new piece, and repeat.
#
# **Predict:** which pair is joined first in this text? Which endings of words become pieces?

# %% [markdown] lang="ja"
# ## 文
#
# コーパスは一つのファイルです。各行は、原文、タブ、訳文です。既定のコーパスは四つの部分からなります。`tatoeba` は 203,000 組の実際の対訳で、辞書の単語である `jmdict` と一緒に一度だけ取得します。`everyday` は文法と辞書から生成した 172,000 組、`situations` は人が実際に入力するような文の 195,000 組で、どちらもこのプロジェクトに含まれています。ほかの文を使う方法は [Your own sentences](../../how_to/own_sentences.md)（英語）にあります。
#
# ## テキストをトークンにする
#
# モデルには有限の語彙が必要です。単語全体では数が多すぎ、新しい単語には ID がありません。文字なら少数ですが、文が長くなり、一つの文字から分かることはわずかです。*サブワード*（ピース）はその中間です。よく使う単語は一つのピースに、まれな単語は複数のピースになり、残りは文字で表します。日本語には単語の間に空白がないので、ピースが唯一の単位です。
#
# *バイト対符号化*（BPE）は、数えるだけでピースを作ります。文字から始めます。`▁` は単語の始まりの印です。隣り合う最も多い組をつないで新しいピースにし、これを繰り返します。
#
# **予想してください:** このテキストで最初につながるのはどの組ですか。どの語尾がピースになりますか。

# %% [markdown] lang="ko"
# ## 문장
#
# 말뭉치는 파일 하나입니다. 각 줄은 원문, 탭, 번역문입니다. 기본 말뭉치는 네 부분입니다. `tatoeba`는 실제 문장 쌍 203,000개이고, 사전의 단어인 `jmdict`와 함께 한 번만 내려받습니다. `everyday`는 문법과 어휘에서 생성한 172,000쌍, `situations`는 사람들이 실제로 입력하는 문장 195,000쌍이며, 둘 다 이 프로젝트에 들어 있습니다. 다른 문장을 쓰는 방법은 [Your own sentences](../../how_to/own_sentences.md)(영어)에 있습니다.
#
# ## 텍스트를 토큰으로
#
# 모델에는 유한한 어휘가 필요합니다. 단어 전체는 너무 많고, 새 단어에는 번호가 없습니다. 글자는 적지만 문장이 길어지고, 글자 하나가 말해 주는 것은 적습니다. *서브워드*, 곧 *조각*은 그 사이에 있습니다. 자주 쓰는 단어는 조각 하나, 드문 단어는 조각 여럿이 되고, 나머지는 글자로 씁니다. 일본어는 단어 사이에 공백이 없어서 조각이 유일한 단위입니다.
#
# *바이트 쌍 인코딩*(BPE)은 세는 것만으로 조각을 만듭니다. 글자에서 시작합니다. `▁`는 단어의 시작을 나타냅니다. 이웃한 쌍 가운데 가장 잦은 것을 이어 새 조각으로 만들고, 이를 되풀이합니다.
#
# **예상해 보세요:** 이 텍스트에서 가장 먼저 이어지는 쌍은 무엇일까요? 어떤 어미가 조각이 될까요?

# %%
text = """
she plays and he played and we play all day
they stayed and we stay and she stays in the sun
he walked and she walks and we walk all day
playing and walking and staying in the sun all day
"""
counts = Counter(text.split())


def merge(pieces, pair):
    """Pieces of a word, with each `pair` of neighbours joined."""
    merged = []
    for piece in pieces:
        if merged and (merged[-1], piece) == pair:
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged


def learn(counts, number):
    """Pieces made by `number` merges, and the words cut into them."""
    words = {word: ["▁", *word] for word in counts}
    made = []
    for _ in range(number):
        pairs = Counter()
        for word, pieces in words.items():
            for pair in pairwise(pieces):
                pairs[pair] += counts[word]
        # The most frequent; then the shortest; then by the alphabet.
        best = min(pairs, key=lambda p: (-pairs[p], len("".join(p)), p))
        made.append("".join(best))
        words = {w: merge(pieces, best) for w, pieces in words.items()}
    return made, words


made, words = learn(counts, number=22)
print(*made)
print()
for word in ("played", "staying", "walks", "they", "sun"):
    print(f"{word:8}", *words[word])

# %% [markdown]
# <details><summary>Answer</summary>
#
# `a` and `y` are joined first: they stand together in play, day, stay, eleven times in all. "▁a" is as frequent, but comes later in the
# order. The endings `ed` and `ing` become pieces; `s` is a character anyway.
#
# </details>
#
# The library [SentencePiece](https://github.com/google/sentencepiece) makes the same 22 pieces, in the same order:

# %% [markdown] lang="ja"
# <details><summary>答え</summary>
#
# `a` と `y` が最初です。play、day、stay の中で隣り合い、合わせて 11 回現れます。「▁a」も同じ回数ですが、順序では後です。語尾 `ed` と `ing` がピースになります。`s` はもともと文字です。
#
# </details>
#
# ライブラリ [SentencePiece](https://github.com/google/sentencepiece) も、同じ 22 個のピースを同じ順序で作ります。

# %% [markdown] lang="ko"
# <details><summary>답</summary>
#
# `a`와 `y`가 가장 먼저입니다. play, day, stay에서 나란히 있고 모두 열한 번 나옵니다. "▁a"도 횟수가 같지만 순서에서 뒤입니다. 어미 `ed`와 `ing`가 조각이 됩니다. `s`는 본래 글자입니다.
#
# </details>
#
# 라이브러리 [SentencePiece](https://github.com/google/sentencepiece)도 같은 조각 22개를 같은 순서로 만듭니다.


# %%
def train(model_type, vocab_size):
    model = BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text.splitlines()),
        model_writer=model,
        model_type=model_type,
        vocab_size=vocab_size,
        character_coverage=1.0,  # every character is a piece
        hard_vocab_limit=False,
        minloglevel=2,  # no messages
    )
    return sentencepiece.SentencePieceProcessor(
        model_proto=model.getvalue()
    )


characters = set("▁" + "".join(counts))
# Three more for unknown characters, begin and end.
bpe = train("bpe", vocab_size=3 + len(made) + len(characters))
assert [bpe.id_to_piece(3 + i) for i in range(len(made))] == made
assert all(bpe.encode(word, out_type=str) == words[word] for word in words)
for sentence in ("the player walked", "she delayed"):
    print(sentence, "->", *bpe.encode(sentence, out_type=str))

# %% [markdown]
# New words get pieces too: "player" is `▁play` and two characters; "delayed" ends with the pieces `ay` and `ed`.
#
# The translator of this project uses the other algorithm of the library, *unigram*. It goes the opposite way: it begins with many
# candidates, gives each piece a probability, and removes the pieces that lower the probability of the corpus least. A text is cut into the
# pieces with the largest product of probabilities. As there are probabilities, training can also draw other cuts of the same word
# (*subword regularization*), so that the model sees a word in several forms:

# %% [markdown] lang="ja"
# 新しい単語もピースになります。「player」は `▁play` と二つの文字、「delayed」の終わりは `ay` と `ed` です。
#
# このプロジェクトの翻訳モデルは、同じライブラリのもう一つのアルゴリズム、*ユニグラム*を使います。進み方は逆です。多数の候補から始め、各ピースに確率を与え、コーパスの確率がほとんど下がらないピースを取り除いていきます。テキストは、確率の積が最大になるピースに分割されます。確率があるので、学習では同じ単語の別の分割を抽選することもできます（*サブワード正則化*）。モデルは一つの単語をいろいろな形で見ることになります。

# %% [markdown] lang="ko"
# 새 단어도 조각이 됩니다. "player"는 `▁play`와 글자 두 개이고, "delayed"는 조각 `ay`와 `ed`로 끝납니다.
#
# 이 프로젝트의 번역기는 같은 라이브러리의 다른 알고리즘인 *유니그램*을 씁니다. 방향이 반대입니다. 많은 후보에서 시작해 조각마다 확률을 주고, 말뭉치의 확률을 가장 적게 낮추는 조각을 없앱니다. 텍스트는 확률의 곱이 가장 큰 조각들로 나뉩니다. 확률이 있으므로 학습할 때 같은 단어를 다르게 나눈 것을 뽑을 수도 있습니다(*서브워드 정규화*). 모델은 한 단어를 여러 꼴로 보게 됩니다.

# %%
unigram = train("unigram", vocab_size=45)
print("best:", *unigram.encode("staying", out_type=str))
sentencepiece.set_random_generator_seed(1)
for _ in range(4):
    drawn = unigram.encode(
        "staying", out_type=str, enable_sampling=True, alpha=0.2
    )
    print("drawn:", *drawn)

# %% [markdown]
# Each piece has an id, and each id a row in the embedding table: the vector with which the encoder begins.
#
# ## Train
#
#     keras-attn train
#
# Text becomes tokens, tokens become batches. The model is trained, and its averaged weights are exported as a SavedModel. The exported
# model is scored on sentences that were not in training. Sizes and rates follow from the corpus and the time:

# %% [markdown] lang="ja"
# 各ピースには ID があり、各 ID は埋め込みの表の一行に対応します。エンコーダーはこのベクトルから始めます。
#
# ## 学習
#
#     keras-attn train
#
# テキストはトークンに、トークンはバッチになります。モデルを学習させ、平均した重みを SavedModel としてエクスポートします。エクスポートしたモデルを、学習に使わなかった文で評価します。サイズや学習率は、コーパスと時間から決まります。

# %% [markdown] lang="ko"
# 조각마다 번호가 있고, 번호마다 임베딩 표의 한 행이 있습니다. 인코더는 이 벡터에서 시작합니다.
#
# ## 학습
#
#     keras-attn train
#
# 텍스트는 토큰이, 토큰은 배치가 됩니다. 모델을 학습시키고, 평균한 가중치를 SavedModel로 내보냅니다. 내보낸 모델을 학습에 쓰지 않은 문장으로 평가합니다. 크기와 학습률은 말뭉치와 시간에서 정해집니다.

# %%
configuration, training = stored["configuration"], stored["training"]
for name in (
    "num_encoder_layers",
    "num_decoder_layers",
    "num_hiddens",
    "ffn_num_hiddens",
    "num_heads",
):
    print(f"{name:20} {configuration[name]}")
for name in (
    "vocab_size",
    "batch_tokens",
    "dropout",
    "learning_rate",
    "precision",
):
    print(f"{name:20} {configuration[name]}")
print()
print(f"{training['parameters']:,} parameters")
print(f"{training['steps']:,} steps, {training['epochs']:.1f} epochs")
print(
    f"{training['seconds'] / 60:.1f} minutes,",
    f"{training['tokens_per_second']:,.0f} tokens/s",
)

# %% [markdown]
# ## Read the report
#
# `report.md` in the folder of the model has the scores. BLEU is from 0 to 100; ± is half the 95% interval. `tatoeba` is real text; `everyday` is
# generated from patterns, so its high score tells that the patterns were learned, not that the model knows Japanese.

# %% [markdown] lang="ja"
# ## レポートを読む
#
# スコアは、モデルのフォルダーの `report.md` にあります。BLEU は 0 から 100 までで、± は 95% 信頼区間の半分です。`tatoeba` は実際のテキストです。`everyday` はパターンから生成したので、高いスコアは、パターンを学んだことを示すだけで、日本語を理解したことにはなりません。

# %% [markdown] lang="ko"
# ## 보고서 읽기
#
# 스코어는 모델 폴더의 `report.md`에 있습니다. BLEU는 0에서 100까지이고, ±는 95% 신뢰 구간의 절반입니다. `tatoeba`는 실제 텍스트입니다. `everyday`는 틀에서 생성했으므로, 높은 스코어는 틀을 배웠다는 뜻이지 일본어를 안다는 뜻은 아닙니다.

# %%
for corpus in stored["corpora"]:
    scores, numbers = corpus["scores"], corpus["exactness"]["numbers"]
    print(f"{corpus['name']}, {corpus['num_sentences']:,} sentences")
    print(
        f"    BLEU {scores['bleu']:.1f} ± {scores['bleu_interval']:.1f},",
        f"chrF {scores['chrf']:.1f}",
    )
    print(
        f"    numbers right in {numbers['right']} of",
        f"{numbers['sentences']} sentences with numbers",
    )

# %% [markdown]
# ### Scores by length
#
# Long sentences are rare in the corpus, and translated worse.

# %% [markdown] lang="ja"
# ### 長さごとのスコア
#
# 長い文はコーパスに少なく、翻訳の質も下がります。

# %% [markdown] lang="ko"
# ### 길이별 스코어
#
# 긴 문장은 말뭉치에 드물고 번역도 더 나쁩니다.

# %% tags=["plot"]
groups = stored["by_length"]
figure = Figure((6, 3), layout="constrained")
axes = figure.subplots()
bars = axes.bar(
    [group["characters"] for group in groups],
    [group["bleu"] for group in groups],
)
axes.bar_label(bars, [f"{group['sentences']:,}" for group in groups])
axes.set_xlabel(
    "characters of the source (above each bar: number of sentences)"
)
axes.set_ylabel("BLEU")
axes.margins(y=0.15)
figure

# %% [markdown]
# ## Translate
#
# ```python
# from keras_attn.translation import Translator
#
# translator = Translator.load("saved_models/ja-en")
# translator(["昨日、公園で犬を見ました。"])
# ```
#
# The last two are wrong: "so" is lost, and she still lives there.

# %% [markdown] lang="ja"
# ## 翻訳する
#
# ```python
# from keras_attn.translation import Translator
#
# translator = Translator.load("saved_models/ja-en")
# translator(["昨日、公園で犬を見ました。"])
# ```
#
# 最後の二つは誤りです。「から」が失われ、彼女は今もそこに住んでいます。

# %% [markdown] lang="ko"
# ## 번역하기
#
# ```python
# from keras_attn.translation import Translator
#
# translator = Translator.load("saved_models/ja-en")
# translator(["昨日、公園で犬を見ました。"])
# ```
#
# 마지막 두 문장은 틀렸습니다. から("그러니까")가 빠졌고, 그녀는 지금도 거기에 살고 있습니다.

# %%
for text, translation in stored["translations"].items():
    print(f"{text}\n    {translation}")

# %% [markdown]
# ### Several translations
#
# `translator.nbest(["雨が降りそうだから、傘を持って行きなさい。"])`: the beam keeps four hypotheses. The score is the log probability, divided by the
# length penalty, plus how well the hypothesis covers the sentence. A glossary gives the translation of a term: `translator(["木村さんに会いました。"], glossary={"木村": "Kimura"})`.

# %% [markdown] lang="ja"
# ### 複数の翻訳
#
# `translator.nbest(["雨が降りそうだから、傘を持って行きなさい。"])`。ビームは四つの仮説を保ちます。スコアは、対数確率を長さペナルティで割り、原文をどれだけ訳しているかを加えたものです。用語の訳は用語集で指定できます: `translator(["木村さんに会いました。"], glossary={"木村": "Kimura"})`

# %% [markdown] lang="ko"
# ### 여러 번역
#
# `translator.nbest(["雨が降りそうだから、傘を持って行きなさい。"])`: 빔은 가설 네 개를 유지합니다. 스코어는 로그 확률을 길이 페널티로 나누고, 원문을 얼마나 옮겼는지를 더한 것입니다. 용어집으로 용어의 번역을 정할 수 있습니다: `translator(["木村さんに会いました。"], glossary={"木村": "Kimura"})`.

# %%
for translation, score in stored["nbest"]:
    print(f"{score:7.3f}  {translation}")
print(stored["glossary"])

# %% [markdown]
# ## Look at attention
#
# `translator.attend("昨日、公園で犬を見ました。")` returns the pieces of both sides and the cross-attention weights of each layer and head. "yesterday" is
# last in English and first in Japanese, and the attention goes back for it.

# %% [markdown] lang="ja"
# ## アテンションを見る
#
# `translator.attend("昨日、公園で犬を見ました。")` は、両側のピースと、層とヘッドごとのクロスアテンションの重みを返します。「yesterday」は英語では最後、日本語では最初にあり、アテンションは先頭まで戻ります。

# %% [markdown] lang="ko"
# ## 어텐션 보기
#
# `translator.attend("昨日、公園で犬を見ました。")`("어제 공원에서 개를 보았습니다.")는 양쪽의 조각과, 층과 헤드마다의 크로스 어텐션 가중치를 돌려줍니다. "yesterday"는 영어에서 마지막, 일본어에서 처음이고, 어텐션이 처음으로 돌아갑니다.

# %%
attention = stored["attention"]
print(attention["text"], "->", attention["translation"])
plot_attention(
    attention["weights"][0],
    attention["target_pieces"],
    attention["source_pieces"],
    mask=True,  # rounded to 0 does not mean masked
)

# %% [markdown]
# ### The mean over the heads
#
# The mean of all heads is close to an alignment of words:

# %% [markdown] lang="ja"
# ### ヘッドの平均
#
# すべてのヘッドの平均は、単語の対応に近いものになります。

# %% [markdown] lang="ko"
# ### 헤드의 평균
#
# 모든 헤드의 평균은 단어의 대응에 가깝습니다.

# %%
mean = np.mean(attention["weights"], axis=(0, 1))
for piece, row in zip(attention["target_pieces"], mean, strict=True):
    print(
        f"{piece:12} {row.max():4.0%}",
        f" {attention['source_pieces'][row.argmax()]}",
    )

# %% [markdown]
# ## Serve
#
#     keras-attn serve saved_models/ja-en
#     curl -d '{"instances": ["昨日、公園で犬を見ました。", "すみません、駅はどこですか。"]}' localhost:8501/v1/models/ja-en:predict
#
# The server answers like TensorFlow Serving:

# %% [markdown] lang="ja"
# ## サーバー
#
#     keras-attn serve saved_models/ja-en
#     curl -d '{"instances": ["昨日、公園で犬を見ました。", "すみません、駅はどこですか。"]}' localhost:8501/v1/models/ja-en:predict
#
# サーバーは TensorFlow Serving と同じ形で答えます。

# %% [markdown] lang="ko"
# ## 서버
#
#     keras-attn serve saved_models/ja-en
#     curl -d '{"instances": ["昨日、公園で犬を見ました。", "すみません、駅はどこですか。"]}' localhost:8501/v1/models/ja-en:predict
#
# 서버는 TensorFlow Serving과 같은 꼴로 답합니다.

# %%
print(stored["reply"])

# %% [markdown]
# ## Exercises
#
# ### Exercise: more merges
#
# What becomes of the pieces of the small corpus with very many merges, and what with none? What does that mean
# for the length of a sentence, and for a rare word?
#
# <details><summary>Answer</summary>
#
# With very many merges, each word is one piece: sentences are short, but a rare word has a vector that was hardly trained, and a new word is characters. With
# none, all tokens are characters: each is well trained, but sentences are about four times as long, and attention costs the square of
# it. Translators use some thousands of pieces.
#
# </details>
#
# ### Exercise: read the alignment
#
# Which Japanese piece does "yesterday" attend to, and which does "dog"? Try it with the stored weights above.
#
# <details><summary>Answer</summary>
#
# The rows of the table of means name them: 昨日 for "yesterday", 犬 for "dog". A decoder does not need a word-by-word alignment; if the information was already
# moved by the encoder, attention may rest on another piece, such as the full stop.
#
# </details>
#
# To go on with your own text: [Your own sentences](../how_to/own_sentences.md), [Serve](../how_to/serve.md).

# %% [markdown] lang="ja"
# ## 演習
#
# ### 演習: もっと多くの結合
#
# 小さなコーパスで結合をとても多くすると、ピースはどうなりますか。まったく結合しないとどうですか。文の長さや、まれな単語にとって何を意味しますか。
#
# <details><summary>答え</summary>
#
# とても多くすると、どの単語も一つのピースになります。文は短くなりますが、まれな単語のベクトルはほとんど学習されず、新しい単語は文字に分かれます。まったく結合しないと、トークンはすべて文字です。どれも十分に学習されますが、文は約 4 倍の長さになり、アテンションのコストはその 2 乗です。翻訳モデルは数千個のピースを使います。
#
# </details>
#
# ### 演習: 対応を読む
#
# 「yesterday」は日本語のどのピースを参照しますか。「dog」はどうですか。上の保存された重みで確かめてください。
#
# <details><summary>答え</summary>
#
# 平均の表の行に答えがあります。「yesterday」は昨日、「dog」は犬です。デコーダーには、単語ごとの対応は必須ではありません。エンコーダーがすでに情報を移していれば、アテンションは別のピースに向くこともあります。
#
# </details>
#
# 自分のテキストで続けるには: [Your own sentences](../../how_to/own_sentences.md)、[Serve](../../how_to/serve.md)（英語）

# %% [markdown] lang="ko"
# ## 연습문제
#
# ### 연습: 더 많이 잇기
#
# 작은 말뭉치에서 아주 많이 이으면 조각은 어떻게 될까요? 전혀 잇지 않으면 어떨까요? 문장의 길이와 드문 단어에는 어떤 뜻일까요?
#
# <details><summary>답</summary>
#
# 아주 많이 이으면 단어마다 조각 하나가 됩니다. 문장은 짧지만, 드문 단어의 벡터는 거의 학습되지 않고 새 단어는 글자로 나뉩니다. 전혀 잇지 않으면 토큰은 모두 글자입니다. 글자마다 잘 학습되지만 문장이 네 배쯤 길어지고, 어텐션의 비용은 그 제곱입니다. 번역기는 조각을 몇천 개 씁니다.
#
# </details>
#
# ### 연습: 대응 읽기
#
# "yesterday"는 일본어의 어느 조각을 참조할까요? "dog"는 어떨까요? 위의 저장된 가중치로 확인해 보세요.
#
# <details><summary>답</summary>
#
# 평균 표의 행에 답이 있습니다. "yesterday"는 昨日, "dog"는 犬입니다. 디코더에 단어마다의 대응이 꼭 필요한 것은 아닙니다. 인코더가 이미 정보를 옮겼다면 어텐션은 다른 조각에 머물 수 있습니다.
#
# </details>
#
# 자기 텍스트로 계속하려면: [Your own sentences](../../how_to/own_sentences.md), [Serve](../../how_to/serve.md)(영어).

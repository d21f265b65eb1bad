# %% [markdown]
# # 6 The translator
#
# From sentences to a server. This tutorial shows on a real corpus what sections 11.4 and 11.7.6 of
# [Dive into Deep Learning](https://d2l.ai/chapter_attention-mechanisms-and-transformers/index.html) train on a small scale.
#
# A training takes ten minutes, so it is not repeated each time this page is built. `python train.py` ran once on two cores of a Zen 4
# EPYC, in bfloat16; `docs/building/translator_results.py` stored what the model and its server answered. The cells below show the stored
# answers, and the text shows the command or call that gives them.

# %%
import json
from importlib.resources import files

import numpy as np
from matplotlib.figure import Figure

from keras_attn.plots import plot_attention

recorded = files("keras_attn.plots") / "translator.json"
stored = json.loads(recorded.read_text("utf-8"))

# %% [markdown]
# ## Sentences
#
# A corpus is a file: source TAB target in each line. The default corpus has two parts. `tatoeba` are 203,000 real pairs, fetched once.
# `everyday` are 167,000 pairs that ship with the project, generated from a grammar and a lexicon. [Your own sentences](../how_to/own_sentences.md)
# shows how to use others.
#
# ## Train
#
#     keras-attn train
#
# Text becomes tokens, tokens become batches; the model is trained; the averaged weights are exported as a SavedModel, and the
# exported model is scored on sentences that were not in training. Sizes and rates follow from the corpus and the time:

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
# `report.md` beside the model has the scores. BLEU is from 0 to 100; ± is half the 95% interval. `tatoeba` is real text; `everyday` is
# generated from patterns, so its high score tells that the patterns were learned, not that the model knows Japanese.

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

# %%
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

# %%
for text, translation in stored["translations"].items():
    print(f"{text}\n    {translation}")

# %% [markdown]
# ### Several translations
#
# `translator.nbest(["雨が降りそうだから、傘を持って行きなさい。"])`: the beam keeps four hypotheses. The score is the log probability, divided by the
# length penalty. A glossary gives the translation of a term: `translator(["木村さんに会いました。"], glossary={"木村": "Kimura"})`.

# %%
for translation, score in stored["nbest"]:
    print(f"{score:7.3f}  {translation}")
print(stored["glossary"])

# %% [markdown]
# ## Look at attention
#
# `translator.attend("昨日、公園で犬を見ました。")` returns the pieces of both sides and the cross-attention weights of each layer and head. "yesterday" is
# last in English and first in Japanese, and the attention goes back for it.

# %%
attention = stored["attention"]
print(attention["text"], "->", attention["translation"])
plot_attention(
    attention["weights"][0],
    attention["target_pieces"],
    attention["source_pieces"],
)

# %% [markdown]
# ### The mean over the heads
#
# The mean of all heads is close to an alignment of words:

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

# %%
print(stored["reply"])

# %% [markdown]
# ### Exercise: the book's translator with additive attention
#
# Section 11.4 of the book lets a recurrent decoder attend to a recurrent encoder with additive attention. `AdditiveAttention` is that
# score: the query is the state of the decoder, keys and values are the states of the encoder. With `DotProductAttention` in its place
# the sizes must agree; it is one matrix product, so it is faster. This translator has no recurrence on either side, so that training
# computes all positions at once: [tutorial 4](4_cost.ipynb) measures why.
#
# Next: [Your own sentences](../how_to/own_sentences.md), [Serve](../how_to/serve.md).

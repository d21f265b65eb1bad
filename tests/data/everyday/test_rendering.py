"""Sentences of a template in every mood, against tables written by hand."""

import pytest
from keras_attn_data.everyday import rendering, templates
from keras_attn_data.everyday.lexicon import Draw, Human, Scene, fitting
from keras_attn_data.everyday.moods import Mood

DRAW = Draw("seed")
# Japanese and English template: moods with both sentences
SENTENCES = """
薬を[飲む] | [I take my medicine]
  polite: 薬を飲みます。 | I take my medicine.
  plain past negative: 薬を飲まなかった。 | I didn't take my medicine.
  polite past question: 薬を飲みましたか。 | Did you take your medicine?
明日は[休みだ] | [tomorrow *be a day off]
  casual negative: 明日は休みじゃない。 | Tomorrow isn't a day off.
  plain question: 明日は休み? | Is tomorrow a day off?
今[見る:ている] | [I be watching it now]
  casual: 今見てる。 | I'm watching it now.
[雨が降る:nominal]ので、[!行く] | [I will not go] because [it rain:tense]
  polite past: 雨が降ったので、行きませんでした。 | I didn't go because it rained.
  plain: 雨が降るので、行かない。 | I won't go because it rains.
[安い:ば]、[買う] | if [it be cheap:present], [I buy some:will]
  polite: 安ければ、買います。 | If it's cheap, I'll buy some.
[{who}が作る:た]ケーキ[だ] | [this *be a cake that {who} made for {who.own} friend]
  polite: 父が作ったケーキです。 | This is a cake that my father made for his friend.
何を[食べる:たい] | what [I want to eat]
  polite question: 何を食べたいですか。 | What do you want to eat?
[食べる:ても]、[太る] | even if [I eat a orange:present], [I gain weight]
  plain negative: 食べても、太らない。 | Even if I eat an orange, I don't gain weight.
"""


def test_sentences_take_politeness_tense_negation_and_question():
    father = {
        "who": next(person for person in fitting("people", "family") if person.text_ja == "父")
    }
    assert isinstance(father["who"], Human)
    for line in SENTENCES.strip().splitlines():
        if not line.startswith(" "):
            ja, en = line.split(" | ")
            continue
        mood, _, expected = line.strip().partition(": ")
        level, *flags = mood.split()
        scene = Scene(father, Mood(level, **{flag: True for flag in flags}), {})
        said = rendering.japanese_sentence(ja, scene, DRAW), rendering.english_sentence(en, scene)
        assert " | ".join(said) == expected


def test_words_are_inflected_by_their_dictionary_form_and_nothing_else():
    with pytest.raises(
        ValueError, match="A predicate must be a dictionary form: .* Received: '食べ"
    ):
        rendering.japanese_sentence("[食べた]", Scene({}, Mood("polite"), {}), DRAW)
    assert rendering.moods_of(frozenset({"-"}), {}, DRAW, 3) == [Mood("polite")]
    moods = rendering.moods_of(frozenset({"plain", "past!", "negative!"}), {}, DRAW, 3)
    assert moods == [Mood("plain", past=True, negative=True)]
    assert templates.parse("飲[む]", False)[0] == "飲"

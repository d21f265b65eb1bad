"""Sentences around words, against sentences written by hand."""

import re

import pytest
from jmdict_by_hand import entry, written
from keras_attn_data.jmdict import frames

# Kanji and kana, gloss, tags of an entry, and some of its sentences.
BY_HAND = """
食べる たべる|to eat|v1 vt|彼はそれを食べられます。 He can eat it.|それを食べました。 I ate it.
書く かく|to write|v5k vt|いつそれを書きましたか。 When did you write it?
持ち上げる もちあげる|to lift up|v1 vt|それを持ち上げたくないです。 I don't want to lift it up.
探す さがす|to look for|v5s vt|それを探さなければなりません。 I have to look for it.
褒める ほめる|to praise|v1 vt|彼を褒めてください。 Please praise him.
泳ぐ およぐ|to swim|v5g vi|泳いだことがあります。 I've swum before.|泳ぎましょう。 Let's swim.
行く いく|to go|v5k-s vi|行ってはいけません。 You must not go.|誰が行きましたか。 Who went?
始まる はじまる|to begin|v5r vi|始まるかもしれません。 It may begin.|それは始まりました。 It began.
疲れる つかれる|to get tired|v1 vi|どうして疲れたのですか。 Why did you get tired?
調べる しらべる|to investigate|v1 vt|彼はそれを調べると言いました。 He said he would investigate it.
調査 ちょうさ|investigation|n vs|彼女はそれを調査しませんでした。 She didn't investigate it.
高い たかい|high|adj-i|それは高くなかったです。 It wasn't high.|高くなりました。 It became high.
賢い かしこい|wise|adj-i|彼女は賢い人です。 She is a wise person.
静か しずか|quiet|adj-na|それはどうして静かなのですか。 Why is it quiet?
駅 えき|station|n|駅で会いましょう。 Let's meet at the station.
傘 かさ|umbrella|n|これは傘です。 This is an umbrella.
馬 うま|horse|n|馬が好きです。 I like horses.
式典 しきてん|ceremony|n|式典は終わりました。 The ceremony is over.
勇気 ゆうき|courage|n|勇気が必要です。 We need courage.
可能性 かのうせい|possibility|n|どの可能性のことですか。 Which possibility do you mean?
水泳 すいえい|swimming|n|水泳に興味があります。 I'm interested in swimming.
"""
# Words whose sentences would be wrong.
BARE = """
東京 とうきょう|Tokyo|n
ゆっくり ゆっくり|slowly|adv
鋏 はさみ|scissors|n
静粛 せいしゅく|quiet|n
混ぜる まぜる|to mix in|v1 vt
問う とう|to ask|v5u-s vt
"""
FAULT = re.compile(r"\b(\w+) \1\b|  |[()\[\]{}]|\ba [aeio]|\ban [^aeiouh]| [.?]|^[a-z].*[.?]$")


def entries(rows):
    for row in rows.strip().splitlines():
        forms, gloss, tags, *_ = row.split("|")
        yield entry(*forms.split(), [gloss], tags.split())


@pytest.fixture
def by_hand(make_archive):
    """The corpus of both tables."""
    make_archive(frames.MEMBER, written(*entries(BY_HAND.strip() + BARE)).getvalue())


def test_sentences_are_those_made_by_hand(by_hand, monkeypatch):
    monkeypatch.setattr(frames, "NUM_FRAMES", 100)
    made = [example for _, example in frames.examples()]
    found = {f"{example['ja']} {example['en']}" for example in made}
    expected = [text for row in BY_HAND.strip().splitlines() for text in row.split("|")[3:]]
    assert not set(expected) - found
    assert not [example for example in made if FAULT.search(example["en"])]
    assert "調査する investigate" in found


def test_an_entry_is_one_combination_and_a_word_without_a_frame_a_pair(by_hand):
    made = [example for _, example in frames.examples()]
    for row in BY_HAND.strip().splitlines():
        word = row.split(" ")[0]
        (own,) = {example["combination"] for example in made if example["ja"] == word}
        texts = [example["ja"] for example in made if example["combination"] == own]
        assert 2 <= len(texts) <= 4, word
    for row in BARE.strip().splitlines():
        assert sum(row.split(" ")[0] in example["ja"] for example in made) == 1, row
    assert made == [example for _, example in frames.examples()]


def test_of_words_with_one_gloss_the_most_frequent_weighs_most(make_archive):
    rows = [("使う", "nf01"), ("用いる", "nf09"), ("活かす", "nf05")]
    texts = [entry(ja, "かな", ["to use"], ["v1", "vt"], [mark]) for ja, mark in rows]
    make_archive(frames.MEMBER, written(*texts).getvalue())
    weights = {example["ja"]: example["weight"] for _, example in frames.examples()}
    assert [weights[ja] for ja, _ in rows] == [1, 1 / 3, 1 / 2]

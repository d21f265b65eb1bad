"""Forms of verbs and adjectives, against tables written by hand."""

import pytest
from keras_attn_data.everyday import japanese
from keras_attn_data.everyday.japanese import Word

# verb, kind: stem, negative, te, past, ば, volitional, potential
VERBS = """
飲む godan 飲み 飲まない 飲んで 飲んだ 飲めば 飲もう 飲める
買う godan 買い 買わない 買って 買った 買えば 買おう 買える
書く godan 書き 書かない 書いて 書いた 書けば 書こう 書ける
泳ぐ godan 泳ぎ 泳がない 泳いで 泳いだ 泳げば 泳ごう 泳げる
話す godan 話し 話さない 話して 話した 話せば 話そう 話せる
待つ godan 待ち 待たない 待って 待った 待てば 待とう 待てる
死ぬ godan 死に 死なない 死んで 死んだ 死ねば 死のう 死ねる
遊ぶ godan 遊び 遊ばない 遊んで 遊んだ 遊べば 遊ぼう 遊べる
帰る godan 帰り 帰らない 帰って 帰った 帰れば 帰ろう 帰れる
見る ichidan 見 見ない 見て 見た 見れば 見よう 見られる
食べる ichidan 食べ 食べない 食べて 食べた 食べれば 食べよう 食べられる
勉強する suru 勉強し 勉強しない 勉強して 勉強した 勉強すれば 勉強しよう 勉強できる
来る kuru 来 来ない 来て 来た 来れば 来よう 来られる
持って来る kuru 持って来 持って来ない 持って来て 持って来た 持って来れば 持って来よう 持って来られる
行く iku 行き 行かない 行って 行った 行けば 行こう 行ける
"""
# predicate, kind: plain and polite, each now, past, negative and negative past
PREDICATES = """
書く godan 書く 書いた 書かない 書かなかった 書きます 書きました 書きません 書きませんでした
ある aru ある あった ない なかった あります ありました ありません ありませんでした
高い i 高い 高かった 高くない 高くなかった 高いです 高かったです 高くないです 高くなかったです
いい ii いい よかった よくない よくなかった いいです よかったです よくないです よくなかったです
静か na 静かだ 静かだった 静かではない 静かではなかった 静かです 静かでした 静かではありません 静かではありませんでした
学生 noun 学生だ 学生だった 学生ではない 学生ではなかった 学生です 学生でした 学生ではありません 学生ではありませんでした
"""  # noqa: E501
NUMERALS = """
1 一 9 九 10 十 12 十二 20 二十 23 二十三 99 九十九 100 百 305 三百五 1000 千 1900 千九百 10000 一万
15800 一万五千八百 2500000 二百五十万 10000000 千万 10000001 千万一
""".split()


def rows(table):
    return map(str.split, table.strip().splitlines())


def test_verbs_take_their_forms():
    for text, kind, stem, negative, te, past, conditional, volitional, potential in rows(VERBS):
        word = Word(text, kind)
        assert japanese.stem(word) == stem
        assert japanese.plain(word, negative=True) == negative
        assert japanese.te(word) == te
        assert japanese.plain(word, past=True) == past
        assert japanese.conditional(word) == conditional
        assert japanese.volitional(word) == volitional
        assert japanese.potential(word) == Word(potential, "ichidan")
        assert japanese.tara(word) == past + "ら"
        assert japanese.progressive(word) == Word(te + "いる", "ichidan")
        assert japanese.wanting(word) == Word(stem + "たい", "i")


def test_predicates_end_sentences_in_eight_ways():
    flags = [(False, False), (True, False), (False, True), (True, True)]
    for text, kind, *ends in rows(PREDICATES):
        for prefix in ("", "頭が") if kind == "ii" else ("",):
            word = Word(prefix + text, kind)
            found = [form(word, *f) for form in (japanese.plain, japanese.polite) for f in flags]
            assert found == [prefix + end for end in ends]


def test_adjectives_join_condition_and_describe():
    high, good = Word("高い", "i"), Word("いい", "ii")
    quiet, student = Word("静か", "na"), Word("学生", "noun")
    assert [japanese.te(w) for w in (high, good, quiet)] == ["高くて", "よくて", "静かで"]
    assert [japanese.adverb(w) for w in (high, good, quiet)] == ["高く", "よく", "静かに"]
    conditions = [japanese.conditional(w) for w in (high, good, quiet)]
    assert conditions == ["高ければ", "よければ", "静かなら"]
    assert [japanese.attributive(w) for w in (high, quiet, student)] == ["高い", "静かな", "学生の"]
    assert [japanese.nominal(w) for w in (high, quiet, student)] == ["高い", "静かな", "学生な"]
    assert japanese.conditional(high, negative=True) == "高くなければ"


def test_numbers_are_written_in_kanji_and_refused_out_of_range():
    for number, text in zip(NUMERALS[::2], NUMERALS[1::2], strict=True):
        assert japanese.numeral(int(number)) == text
    for number in (0, 100_000_000):
        with pytest.raises(ValueError, match="must be from 1 to 99,999,999 .* Received: number="):
            japanese.numeral(number)

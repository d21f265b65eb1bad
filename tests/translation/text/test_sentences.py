import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.text import sentences
from keras_attn.translation.text.sentences import SEPARATOR, is_in_language


def texts_of(tensor):
    return [text.decode() for text in tensor.numpy().ravel()]


def split(*given):
    """Sentences of each text, without empty ones."""
    found = sentences.split(tf.constant(given))
    rows = [[] for _ in given]
    for text, owner in zip(texts_of(found.text), found.owner.numpy().tolist(), strict=True):
        rows[owner] += [text] if text else []
    return rows


def test_sentences_end_at_their_marks():
    for expected in (
        ["猫だ。", "走れ！", "本当？", "はい。"],
        ["雨が降ってきたよ！？", "傘はある?", "ない!"],
        ["「はい。」と言う。", "「今日は寒い。でも行く。」と彼は答えた。"],
        ["「はい。」", "「いいえ。」", "彼は笑った。"],
        ["これは『猫だ。』という本（新しい。）です。", "読んだ？"],
        ["そう。。。", "ええと……。"],
        ["円周率は3.14です。", "Ver.2.0を使う。", "report.v2.pdfを見て。"],
        ["https://example.com/?a=1.bを開く。", "次。"],
        ["{name}さん。", "a.b@example.comへ。", "%sです。"],
        ["一つ目です｡", "二つ目です｡"],
        ["終わりのない文"],
    ):
        assert split("".join(expected)) == split("　".join(expected)) == [expected]
    for expected in (
        ["Mr. Smith is 3.5 cm tall.", "It ends.", "(So.)", "Why?", "No!"],
        ["See e.g. report.pdf at 5 p.m. today.", "J. R. Brown came."],
        ["No. 5 is mine.", "The U.S. is big."],
        ["I'm 25.", "I live in Tokyo.", "It costs $5.", "See you at 10:30.", "Bye."],
        ["I left at 5 p.m.", "It was cold.", "No.", "I don't want it."],
        ["Dec. 25 is Christmas.", "See p. 5 and pp. 10-12 first.", "Gen. Lee came."],
        ['He said, "Stop!" and ran.', '"Really?" he asked.', "Yahoo! news is big."],
    ):
        assert split(" ".join(expected)) == [expected]
    assert split("I got home.He slept. 起きる.そして走る。 調べた．その結果、減った。") == [
        ["I got home.", "He slept.", "起きる.", "そして走る。", "調べた．", "その結果、減った。"]
    ]
    assert split("いいかな？と思います。 本当？と聞いた。") == [
        ["いいかな？と思います。", "本当？と聞いた。"]
    ]
    # The mark between sentences cannot come from outside.
    assert split(f"a{SEPARATOR}b") == [["a b"]]


def test_marks_labels_and_tags_stay_around_sentences():
    for text, expected in (
        ("・猫\n- 犬です。", "・<猫>\n- <犬です。>"),
        ("1. 猫\n(2) 犬\n③ 鳥", "1. <猫>\n(2) <犬>\n③ <鳥>"),
        ("a) yes\nb) no", "a) <yes>\nb) <no>"),
        ("■猫→犬", "■<猫→犬>"),
        ("※注意\n# 見出し", "※<注意>\n# <見出し>"),
        ("Q: 猫ですか。A: はい。", "Q: <猫ですか。> A: <はい。>"),
        ("田中：はい。", "<田中>: <はい。>"),
        ("【重要】会議です。", "[<重要>] <会議です。>"),
        ("[Save] Yes. [name] is new.", "[<Save>] <Yes.> <[name] is new.>"),
        ("母「はい。」\n子「ええ」\n", "<母>: <「はい。」>\n<子>: <「ええ」>\n"),
        ("彼は「はい。」と言う。", "<彼は「はい。」と言う。>"),
        ("注）高い。", "<注>: <高い。>"),
        ("--- 手順2 ---", "--- <手順2> ---"),
        ("<p>猫です。</p><p>犬です。</p>", "<p><猫です。></p><p><犬です。></p>"),
        ("<p>A cat.</p> <p>A dog.</p>", "<p><A cat.></p> <p><A dog.></p>"),
        (
            "<ul class='a'><li>猫</li><li>犬</li></ul>",
            "<ul class='a'><li><猫></li><li><犬></li></ul>",
        ),
        ("<tr><td><b>月</b></td></tr>火", "<tr><td><b><月></b></td></tr><火>"),
        ("名前<br/>住所", "<名前><br/><住所>"),
        ("Name<br>Address", "<Name><br><Address>"),
        ("動物<ul><li>猫</li></ul>", "<動物><ul><li><猫></li></ul>"),
        ("<i>私</i>の<b>猫</b>です。", "<<i>私</i>の<b>猫</b>です。>"),
        ("<b>注意</b>：<i>高い</i>です。", "<b><注意></b>: <<i>高い</i>です。>"),
        ("<0>猫</0>", "<0><猫></0>"),
        ("-10度です。10:30です。", "<-10度です。> <10:30です。>"),
        ("開始は10：30です。", "<開始は10：30です。>"),
        ("A.I. is new.", "<A.I. is new.>"),
        ("mailto:a@b.jp へ", "<mailto:a@b.jp へ>"),
        ("A：はい。\nB：いいえ。", "A：<はい。>\nB：<いいえ。>"),
        ("男：はい。", "<男>: <はい。>"),
        ("1.りんご\n2、みかん", "1. <りんご>\n2. <みかん>"),
        ("a. Apple\nRe: Meeting", "a. <Apple>\nRe: <Meeting>"),
        ("会議の件【至急】", "<会議の件> [<至急>]"),
        ("2、三日休む。1.5倍です。", "<2、三日休む。> <1.5倍です。>"),
    ):
        found = sentences.split(tf.constant([text]))
        named = tf.where(found.text == "", "", tf.strings.join(["<", found.text, ">"]))
        assert texts_of(sentences.join(found, named[:, None], tf.constant(1), " ")) == [expected]
    # No more tags in a sentence than there are placeholders.
    found = sentences.split(tf.constant(["".join(f"<b>{i}</b>" for i in range(6))]))
    assert max(text.count("<") for text in texts_of(found.text)) <= 8


def test_the_translation_of_a_label_has_a_capital_and_no_full_stop():
    found = sentences.split(tf.constant(["【重要】見て。"]))
    joined = sentences.join(
        found, tf.constant([["important."], ["Look."], [""]]), tf.constant(1), " "
    )
    assert texts_of(joined) == ["[Important] Look."]


def test_common_labels_have_translations_of_their_own():
    for text, languages, between, expected in (
        ("【重要】重要", ("ja", "en"), " ", "[Important] ?"),
        ("<b>注</b>：猫", ("ja", "en"), " ", "<b>Note</b>: ?"),
        ("田中：猫\n姪：はい", ("ja", "en"), " ", "Tanaka: ?\n?: ?"),
        ("Mother: yes\nTom: cat", ("en", "ja"), "", "母: ?\nトム: ?"),
        ("重要：Katze", ("ja", "de"), " ", "?: ?"),
    ):
        found = sentences.split(tf.constant([text]))
        unknown = tf.where(found.text == "", "", "?")[:, None]
        labels = sentences.labels(*languages)
        joined = sentences.join(found, unknown, tf.constant(1), between, labels)
        assert texts_of(joined) == [expected]


def test_lines_are_split_and_come_back_with_blank_lines():
    text = "一行目。二つ目\n\n　三行目です\r\n・四行目\n"
    assert split(text) == [["一行目。", "二つ目", "三行目です", "四行目"]]
    found = sentences.split(tf.constant([text, "", "\n", "終。"]))
    named = tf.strings.join(["<", found.text, ">"])
    joined = sentences.join(found, named[:, None], tf.constant(4), " ")
    # Empty sentences are translated to nothing.
    plain = [text.replace("<>", "") for text in texts_of(joined)]
    assert plain == ["<一行目。> <二つ目>\n\n　<三行目です>\r\n・<四行目>\n", "", "\n", "<終。>"]


def test_emoji_around_sentences_stay_and_other_space_is_left_out():
    text = "  寒い。😊 行こう🎉🎉  "
    found = sentences.split(tf.constant([text]))
    joined = sentences.join(found, found.text[:, None], tf.constant(1), " ")
    assert texts_of(joined) == ["寒い。😊  行こう🎉🎉  "]
    assert split(text) == [["寒い。", "行こう"]]


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.text("あい。！.? \n)」「a1😊{}", max_size=30), min_size=1, max_size=4))
def test_nothing_but_space_is_lost(given_texts):
    found = sentences.split(tf.constant(given_texts))
    joined = sentences.join(found, found.text[:, None], tf.size(given_texts), "")
    for given_text, back in zip(given_texts, texts_of(joined), strict=True):
        assert back.replace(" ", "") == given_text.replace(" ", "")
        assert back.count("\n") == given_text.count("\n")


def test_text_of_a_language_holds_its_letters():
    for language, inside, outside in (
        ("ja", ["ひ", "カタ", "漢字 1", "ﾊﾝ"], ["", "123", "abc", "😊！", "한국", "—"]),
        ("en", ["a", "123 kg"], ["漢字", "！？", "123"]),
        ("xx", ["a", "漢", "ж", "7 7 1"], ["…", "😊"]),
        ("digits", ["1"], [""]),
        ("ja", ["东京です", "東京駅前"], ["我们去东京。", "你好吗", "\n这个"]),
        ("en", ["Café", "José", "She said merci.", "Uneven hoes"], ["Je ne sais pas.", "¿Vamos?"]),
        ("en", ["I met Mr. Dvořák at the café."], ["GUTEN\nMORGEN", "Dziękuję", "Bạn khỏe"]),
    ):
        found = is_in_language(tf.constant([*inside, *outside]), language).numpy().tolist()
        assert found == [True] * len(inside) + [False] * len(outside), language


@settings(max_examples=20, derandomize=True, deadline=None)
@given(
    st.lists(st.lists(st.integers(4, 9), max_size=20), min_size=1, max_size=4), st.integers(1, 7)
)
def test_no_part_is_too_long_and_no_piece_is_lost(rows, limit):
    pieces = tf.ragged.constant(rows, tf.int32, ragged_rank=1)
    chunks, owners = sentences.parts(pieces, limit)
    back = [[] for _ in rows]
    for chunk, owner in zip(chunks.to_list(), owners.numpy().tolist(), strict=True):
        assert 0 < len(chunk) <= limit
        back[owner] += chunk
    assert back == rows

import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.languages import read_language
from keras_attn.translation.corpus.cleaning import clean_text
from keras_attn.translation.corpus.sources import Sources
from keras_attn.translation.text import placeholders
from keras_attn.translation.text.characters import replace
from keras_attn.translation.text.kinds import copied_spans, kinds_of
from keras_attn.translation.text.placeholders import mask, mask_translations, unmask
from keras_attn.translation.text.training_placeholders import mask_pair
from keras_attn.translation.text.typed import plain, plain_in_graph

A = placeholders.PLACEHOLDERS
DATA = Path(__file__).parents[2] / "data"


def strings(tensor):
    return [text.decode() for text in tensor.numpy().ravel()]


def masked_in_python(text, source, target):
    """Masked text and values, as training finds the spans."""
    numbers, values, masked, end = read_language(target).numbers, [], "", 0
    text = plain(text, source)
    for span, kind in placeholders.find(text, kinds_of(source, target)):
        if kind.ways and len(values) < len(A):
            masked += text[end : span.start()] + A[len(values)] + kind.mark
            value = replace(span[0], kind.replacements.get(numbers, ()))
            values.append(kind.values.get(span[0], value))
            end = span.end()
    return masked + text[end:], values


def check_equal_in_the_graph(texts, source, target):
    masked, values = mask(tf.constant(texts), source, target)
    for text, in_graph, row in zip(texts, strings(masked), values, strict=True):
        found = [value for value in strings(row) if value]
        assert (in_graph, found) == masked_in_python(text, source, target), text


WORDS = "午後 午前 間 パーセント 1900 st th km www. a.b 五十嵐 五月雨".split()
SPANS = [
    *"0123456789一三九十百千万億年月日時分半対%％,.:-/_@#{}<>`$&;\\aSTあの、。 \ue000😊",
    *WORDS,
]
TEXTS = st.lists(st.sampled_from(SPANS), max_size=12).map("".join).map(clean_text)


@settings(max_examples=8, derandomize=True, deadline=None)
@given(st.lists(TEXTS, min_size=20))
def test_training_and_graph_find_and_mask_the_same_spans_in_random_text(texts):
    for languages in (("ja", "en"), ("en", "ja"), ("ja", "de")):
        check_equal_in_the_graph(texts, *languages)


def lines_of(name):
    if name == "everyday":
        return [entry.pair for entry in Sources("everyday", "ja", "en").read().entries[::5]]
    return [line.split("\t")[:2] for line in (DATA / f"{name}.tsv").read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    "name",
    ["numerals", "copied", "first_sentences", pytest.param("everyday", marks=pytest.mark.slow)],
)
def test_training_and_graph_find_and_mask_the_same_spans_in_a_corpus(name, capfd):
    japanese, english = ([*map(clean_text, side)] for side in zip(*lines_of(name), strict=True))
    check_equal_in_the_graph(japanese, "ja", "en")
    check_equal_in_the_graph(japanese, "ja", "de")
    check_equal_in_the_graph(english, "en", "ja")
    assert "DFA" not in capfd.readouterr().err  # RE2 says when an expression is too large


# A pair for each kind: source, masked source (`_` for a placeholder), target, masked target.
PAIRS = {
    "web address": ("https://a.jp/bを見て。", "_を見て。", "See https://a.jp/b.", "See _."),
    "e-mail address": ("a.b@c.jpへ", "_へ", "To a.b@c.jp", "To _"),
    "mention": ("@aさん", "_さん", "Dear @a", "Dear _"),
    "template": ("${a}さん", "_さん", "Dear ${a}", "Dear _"),
    "formula": ("$x^2$の朝", "_の朝", "Morning of $x^2$", "Morning of _"),
    "variable": ("$HOMEの朝", "_の朝", "Morning of $HOME", "Morning of _"),
    "format": ("%1$dの朝", "_の朝", "%1$d in the morning", "_ in the morning"),
    "tag": ("<b>朝", "_朝", "<b>Morning", "_Morning"),
    "code": ("`a b`の朝", "_の朝", "Morning of `a b`", "Morning of _"),
    "path": ("/usr/binの朝", "_の朝", "Morning of /usr/bin", "Morning of _"),
    "file": ("a.pdfの朝", "_の朝", "Morning of a.pdf", "Morning of _"),
    "private use": ("\ue0ffの朝", "_の朝", "Morning of \ue0ff", "Morning of _"),
    "emoji": ("😊の朝", "_の朝", "Morning of 😊", "Morning of _"),
    "no date": ("午後12時間", "午後12時間", "12 hours", "12 hours"),
    "word like a name": ("登山口", "登山口", "Yamaguchi", "Yamaguchi"),
    "name with a title": ("林さんの朝", "_さんの朝", "Hayashi's morning", "_'s morning"),
    "name": ("五十鈴の朝", "_の朝", "Isuzu's morning", "_'s morning"),
    "no name": ("林の朝", "林の朝", "Morning of Hayashi", "Morning of Hayashi"),
    "end of a word": ("藤森さんの朝", "藤森さんの朝", "Morning of Mori", "Morning of Mori"),
    "duration": ("1時間30分、15時間", "_時間、_時間", "one hour 30 minutes, 15 hours", "_, _"),
    "decade": ("1990年代に", "_年代に", "in the 1990's", "in the _"),
    "date 月日": ("十月三日の朝", "_月日の朝", "On the 3rd of October", "On _"),
    "date 年月": ("2016年6月の朝", "_年月の朝", "In June, 2016.", "In _."),
    "date 月": ("5月に", "_月に", "In May", "In _"),
    "date 時分": ("午後3時に来て。", "_時分に来て。", "Come at 3 p.m.", "Come at _."),
    "number in a word": ("1stと八百屋", "1stと八百屋", "1st", "1st"),
    "listed digits": ("一、二、三", "一、二、三", "One, two, three", "One, two, three"),
    "vague number": ("数百万人", "数百万人", "Millions", "Millions"),
    "about": ("二、三日", "_", "two or three days", "_"),
    "no about": ("二、三十人", "二、三十人", "two or three", "two or three"),
    "fraction": ("3分の2が", "_が", "two-thirds", "_"),
    "range": ("10%-20%", "_", "10%-20%", "_"),
    "signed number or temperature": ("マイナス5度と-10°C", "_度と_", "minus 5, -10°C", "_, _"),
    "money": ("$20と¥1,500", "_と_", "$20, ¥1,500", "_, _"),
    "telephone": ("+81 3 1234 5678へ", "_へ", "+81 3 1234 5678", "_"),
    "large number": ("1.5億円と八千二百万円", "_円と_円", "150 million, 82 million", "_, _"),
    "year": ("千九百年に", "_年に", "In 1900", "In _"),
    "code number": ("注文番号は1234です", "注文番号は_です", "No. 1234", "No. _"),
    "number of a room": ("1204号室", "_号室", "Room 1204", "Room _"),
    "counted number": ("千九百円", "_円", "1,900 yen", "_ yen"),
    "number": ("3%の1900", "_の_", "3 percent, 1900", "_, _"),
    "letter in a word": ("Tシャツ", "Tシャツ", "a T-shirt", "a T-shirt"),
    "word": ("CDとGoogle MapsとРоссия", "_と_と_", "CDs, Google Maps, Россия", "_s, _, _"),
}  # fmt: skip


def without_numbers(text):
    return re.sub(f"[{''.join(A)}]", "_", text)


def test_each_kind_is_masked_by_training_and_graph_alike():
    kinds = kinds_of("ja", "en")
    assert list(PAIRS) == [kind.name for kind in kinds]
    for source, masked_source, target, masked_target in PAIRS.values():
        masked = mask_pair(source, target, ("ja", "en"), np.random.default_rng(0))
        assert [without_numbers(text) for text in masked] == [masked_source, masked_target]
        (in_graph,) = strings(mask(tf.constant([source]), "ja", "en")[0])
        assert without_numbers(in_graph) == masked_source


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.data())
def test_spans_begin_with_hiragana_only_where_their_kind_says_so(data):
    kinds = [*kinds_of("ja", "en"), *kinds_of("en", "ja"), *kinds_of("de", "ja")]
    kind = data.draw(st.sampled_from([kind for kind in kinds if not kind.first]))
    span = data.draw(st.from_regex(re.compile(kind.pattern, re.ASCII), fullmatch=True))
    assert not re.match("[ぁ-ん、。]", span)


def test_kinds_that_japanese_writes_in_a_form_of_its_own_are_masked_alike():
    for source, masked_source, target, masked_target in (
        ("It is 1.5 million yen", "It is _ yen", "150万円だ", "_円だ"),
        ("$5 million at 3pm", "_ at _", "午後3時に500万ドル", "_に_"),
        ("Two and a half hours for €15.50", "_ for _", "15.50ユーロで2時間半", "_で_"),
        ("It's ten to five", "It's _", "5時10分前だ", "_だ"),
        ("From ten to five at half past six", "From ten to five at _", "6時半に", "_に"),
        ("Two-thirds of them, a third of May", "_ of them, a third of May", "3分の2が", "_が"),
        ("Minus five for 2 or 3 days", "_ for _", "2、3日マイナス5", "__"),
        ("Half a billion in the 1990s", "_ in the _", "1990年代に5億", "_に_"),
        ("-10°C with 田中\\nToday", "_ with __Today", "田中と-10°C\\n今日", "_と__今日"),
    ):
        masked = mask_pair(source, target, ("en", "ja"), np.random.default_rng(0))
        assert [without_numbers(text) for text in masked] == [masked_source, masked_target]
        in_graph, values = mask(tf.constant([source]), "en", "ja")
        assert without_numbers(strings(in_graph)[0]) == masked_source
        assert all(value in target for value in strings(values))


def test_values_are_those_that_a_reader_sees():
    for texts in (
        ("優勝監督と看守さんと十二指腸", "優勝監督と看守さんと十二指腸"),
        ("明日香港へ、第三木曜日", "明日香港へ、第三木曜日"),
        ("2024 年 5 月 3 日に", "_月日に", "May 3, 2024"),
        ("2024〜2025年に1204を", "_〜_年に_を", "2024", "2025", "1204"),
        ("1204円と12040", "_円と_", "1,204", "12,040"),
        ("注文番号は「12345」", "注文番号は「_」", "12345"),
        ("03(1234)5678と03 1234 5678", "_と_", "03(1234)5678", "03 1234 5678"),
        ("03−1234−5678", "_", "03-1234-5678"),
        ("-5度で10%-20%", "_で_", "-5 degrees", "10%-20%"),
        ("<5月の予定>", "<_月の予定>", "May"),
        ("10名〜、50m²", "_名〜、_", "10", "50m2"),
        ("0万円", "_円", "0"),
        ("1万2千5百円と2千5百円", "_円と_円", "12,500", "2,500"),
        ("3〜5万円、1.5-2億", "_〜_円、_-_", "30,000", "50,000", "150 million", "200 million"),
        ("5000〜1万円", "_〜_円", "5000", "10,000"),
        ("2,3万円", "2、3万円"),
        ("US$100と¥100万、$10億", "_と_円、_ドル", "$100", "1,000,000", "1 billion"),
        ("AM10:00、3pm、PM 5時", "_時分、_時分、_時分", "10:00 a.m.", "3 p.m.", "5 p.m."),
        ("午後3:30と9:15 am", "_時分と_時分", "3:30 p.m.", "9:15 a.m."),
        ("12PMと12AM", "_時分と_時分", "noon", "midnight"),
        ("9AM-5PM、午後15時", "_時分〜_時分、_時分", "9 a.m.", "5 p.m.", "3 p.m."),
        ("若い時分の10:30、AM放送", "若い時分の_、_放送", "10:30", "AM"),
        ("午前10名、5/10AM着", "午前_名、__着", "10", "5/10", "AM"),
        ("13〜15時、13〜15時間", "_時分〜_時分、_〜_時間", "1 p.m.", "3 p.m.", "13", "15 hours"),
        ("10〜12月の第3月曜日", "_月〜_月の第3月曜日", "October", "December"),
        ("気温が2、3度上がった", "気温が_度上がった", "2 or 3"),
        ("月 5 日、プラン2 月額5円", "月5日、プラン2 月額5円"),
        ("これとWWWの違い", "これと_の違い", "WWW"),
    ):
        masked, values = mask(tf.constant([texts[0]]), "ja", "en")
        found = without_numbers(strings(masked)[0]), *filter(None, strings(values))
        assert found == texts[1:]
    for texts in (
        ("It takes about 10 to 15 minutes.", "10", "15"),
        ("It's five to ten dollars.",),
        ("around 20 to 30 people", "20", "30"),
        ("It's ten to five in the morning.", "5時10分前"),
        ("$3M, $100K and £2.5m", "300万ドル", "10万ドル", "250万ポンド"),
        ("$3-5 million, an extra million", "300万ドル", "500万ドル"),
        ("3 to 5 million, forty-five million", "300万", "500万"),
        ("It's 0:30 a.m. or 10.30am.", "午前0時30分", "午前10時30分"),
        ("minus 2.5, minus 1,000, -10 degrees", "マイナス2.5", "マイナス1,000", "マイナス10度"),
        ("The score was 5 to 3.",),
        ("Thanks a million!",),
    ):
        _, values = mask(tf.constant([texts[0]]), "en", "ja")
        assert (*filter(None, strings(values)),) == texts[1:]


def test_what_only_looks_like_a_span_stays():
    texts = (
        "日本/中国/韓国 月/火/水 価格は$5で 出典:Wikipedia 1、2年生 第1、2章 10月5、6日 何千万円 "
        "十五夜 八百万の神 四十肩 正教授 林の中"
    ).split()
    masked, values = mask(tf.constant(texts), "ja", "en")
    copied = [[value for value in row if value] for row in values.numpy().tolist()]
    expected = {"価格は$5で": [b"$5"], "出典:Wikipedia": [b"Wikipedia"]}
    assert copied == [expected.get(text, []) for text in texts]
    masked, values = mask(tf.constant(["keras.layersを", "0.5億", "昭和30年代に"]), "ja", "en")
    assert [row[0].decode() for row in values.numpy()] == [*("keras.layers", "50 million", "30s")]


def test_spans_are_found_and_come_back():
    for text, expected in (
        ("https://example.com/a?b=1.2#c。次", ["https://example.com/a?b=1.2#c"]),
        ("(www.example.org/)を見て", ["www.example.org/"]),
        ("連絡は a.b+c@mail.example.co.jp へ。", ["a.b+c@mail.example.co.jp"]),
        ("{name}と{{count}}と${path}と{}", ["{name}", "{{count}}", "${path}", "{}"]),
        ("%sは%(n)d個、%1$sと%.2f", ["%s", "%(n)d", "%1$s", "%.2f"]),
        ('<b>太字</b>と<a href="x">と&nbsp;', ["<b>", "</b>", '<a href="x">', "&nbsp;"]),
        ("@tanakaさん #夏休み #summer", ["@tanaka", "#summer"]),
        ("`print(1)`を実行", ["`print(1)`"]),
        ("報告書.pdfとreport.v2.pdfとtrain.py", ["report.v2.pdf", "train.py"]),
        ("/usr/local/binとC:\\Users\\me", ["/usr/local/bin", "C:\\Users\\me"]),
        ("今日は😊です👨‍👩‍👧", ["😊", "👨‍👩‍👧"]),
        ("5枚です。「はい」〜、午後3時", []),
        (
            "https://ja.example.org/wiki/日本語を、ftp://a.b/c",
            ["https://ja.example.org/wiki/日本語", "ftp://a.b/c"],
        ),
        ("~/.bashrc と ../a/b と C:\\Users\\田中", ["~/.bashrc", "../a/b", "C:\\Users\\田中"]),
        (
            "%{count}と%luと%5.2f%%と:nameと[name]",
            ["%{count}", "%lu", "%5.2f%%", ":name", "[name]"],
        ),
        (
            "改行\\nと{n, plural, one {# a} other {# b}}",
            ["\\n", "{n, plural, one {# a} other {# b}}"],
        ),
        (
            r"$\alpha+1$と\frac{1}{2}と<!-- a --><0>",
            [r"$\alpha+1$", r"\frac{1}{2}", "<!-- a --><0>"],
        ),
    ):
        assert copied_spans(text) == expected
        masked, values = mask(tf.constant([text]), "eo", "ja")
        assert [c for c in strings(masked)[0] if c in A] == [*A[: len(expected)]]
        assert strings(unmask(masked, values, masked, "ja")[0]) == [text]
    assert copied_spans("100%の力、50 % off, 3 < 4 > 2") == []


def test_values_come_wherever_the_model_puts_placeholders():
    for source, answer, expected, is_missing in (
        ("{a}と{b}と{c}", f"{A[2]} and {A[0]}, {A[0]}.", "{c} and {a}, {a} {b}.", True),
        ("{a}と{b}と{c}", f"{A[2]} and {A[1]}!", "{a} {c} and {b}!", True),
        ("なし", f"None{A[3]}.", "None.", False),
        # No tags that the source lacks.
        ("なし", "1 < 2 <li>No</li> <", "1 < 2 No <", False),
        ("3 < 4", "3 < <b>4", "3 < <b>4", False),
    ):
        masked, values = mask(tf.constant([source]), "eo", "en")
        found, missing = unmask(tf.constant([answer]), values, masked, "en")
        assert (strings(found), missing.numpy().tolist()) == ([expected], [is_missing])


def test_values_in_given_translations_become_placeholders_again():
    _, values = mask(tf.constant(["{a}は1900円", "なし", "C:\\Early\\xと12個"]), "ja", "en")
    answers = tf.constant(["{a} costs 1,900 yen, {a}", "None", "12 C:\\Early\\x"])
    found = strings(mask_translations(answers, values))
    assert found == [f"{A[0]} costs {A[1]} yen, {{a}}", "None", f"{A[1]} {A[0]}"]


def test_more_spans_than_placeholders_leave_the_others_in_the_text():
    text = " ".join(f"{{n{i}}}" for i in range(len(A) + 2))
    masked, _ = mask(tf.constant([text]), "en", "ja")
    assert strings(masked)[0].endswith("{n8} {n9}")


def test_terms_get_their_translations_longest_first():
    terms = tf.constant(["木村", "木村屋", "C++ (a|b)", r"\E.*", ""])
    translations = tf.constant(["Kimura", "Kimuraya", "C++ (a|b)", "no", "nothing"])
    texts = tf.constant(["木村は木村屋でC++ (a|b)を学ぶ。", "{x}と木村。", "何も。"])
    masked, values = mask(texts, "ja", "en", terms, translations)
    assert strings(masked) == [f"{A[0]}は{A[1]}で{A[2]}を学ぶ。", f"{A[0]}と{A[1]}。", "何も。"]
    assert strings(values[0])[:3] == ["Kimura", "Kimuraya", "C++ (a|b)"]
    assert strings(values[1])[:2] == ["{x}", "Kimura"]
    none = tf.zeros([0], tf.string)
    assert strings(mask(texts, "ja", "en", none, none)[0]) == strings(mask(texts, "ja", "en")[0])


def test_numbers_are_copied_as_english_writes_them():
    for text, expected, *kept in (
        ("1900円と1,900円と１９００円", "_円と_円と_円", *["1,900"] * 3),
        ("1900年に千九百円", "_年に_円", "1900", "1,900"),
        ("十時半、12時45分、12:45、3.14", "_時分、_時分、_、_", "10:30", "12:45", "12:45", "3.14"),
        ("1938年5月9日の午後3時", "_月日の_時分", "May 9, 1938", "3 p.m."),
        ("十月に4%、3.5％、5パーセント", "_月に_、_、_", "October", "4%", "3.5%", "5%"),
        ("午後3時間と五月雨、28日の10時", "午後3時間と五月雨、_日の_時", "28", "10"),
        ("A4を20枚、090-1234-5678", "_を_枚、_", "A4", "20", "090-1234-5678"),
        ("八百屋と千草、二三日、一番、3人、百合",) * 2,
    ):
        masked, values = mask(tf.constant([text]), "ja", "en")
        assert without_numbers(strings(masked)[0]) == expected
        assert [value for value in strings(values) if value] == kept
    # A language without dates and degrees of its own.
    _, values = mask(tf.constant(["5月12日の午後3時半", "-5度"]), "ja", "de")
    assert [value for value in strings(values) if value] == ["12", "-5"]


def test_a_translation_gets_the_endings_of_ordinal_numbers_and_one_period():
    answers = tf.constant([f"on the {A[0]}th, the {A[1]}th and the {A[2]}th", f"{A[0]}."])
    values = tf.constant([[*row, *[""] * 5] for row in (["21", "12", "33"], ["3 p.m.", "", ""])])
    expected = ["on the 21st, the 12th and the 33rd", "3 p.m."]
    masked = tf.constant(["", ""])
    assert strings(unmask(answers, values, masked, "en")[0]) == expected
    assert strings(unmask(answers, values, masked, "de")[0])[1] == "3 p.m.."
    assert strings(mask_translations(tf.constant(expected), values))[1] == f"{A[0]}."
    decade = tf.constant([["1990s", *[""] * 7]])
    (found,) = strings(unmask(tf.constant([f"in the {A[0]}s."]), decade, masked[:1], "en")[0])
    assert found == "in the 1990s."


CHARACTERS = st.sampled_from("あ。{}%s<b>@.a/h:😊\ue000\ue009\x1e ") | st.characters(codec="utf-8")


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.text(CHARACTERS, max_size=20), min_size=1, max_size=4))
def test_nothing_is_lost_in_any_text(texts):
    masked, values = mask(tf.constant(texts), "eo", "fr")  # neither has forms of its own
    expected = plain_in_graph(tf.constant([text.replace("\x1e", " ") for text in texts]), "eo")
    assert strings(unmask(masked, values, masked, "fr")[0]) == strings(expected)

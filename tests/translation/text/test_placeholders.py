import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.text.placeholders import SLOTS, protect, restore, spans, with_slots


def strings(tensor):
    return [text.decode() for text in tensor.numpy().ravel()]


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
    ):
        assert spans(text) == expected
        protected, literals = protect(tf.constant([text]), "ja")
        (inside,) = strings(protected)
        assert [c for c in inside if c in SLOTS] == list(SLOTS[: len(expected)])
        assert strings(restore(protected, literals, "ja")) == [text]
    assert spans("100%の力、50 % off, 3 < 4 > 2") == []


def test_slots_are_filled_wherever_the_model_puts_them_and_missing_ones_appended():
    _, literals = protect(tf.constant(["{a}と{b}と{c}", "なし"]), "en")
    answers = [f"{SLOTS[2]} and {SLOTS[0]}, {SLOTS[0]}.", f"None{SLOTS[3]}."]
    found = strings(restore(tf.constant(answers), literals, "en"))
    assert found == ["{c} and {a}, {a}. {b}", "None."]


def test_spans_of_given_translations_become_slots_again():
    _, literals = protect(tf.constant(["{a}は1900円", "なし", "C:\\Early\\xと12個"]), "en")
    answers = tf.constant(["{a} costs 1,900 yen, {a}", "None", "12 C:\\Early\\x"])
    assert strings(with_slots(answers, literals)) == [
        f"{SLOTS[0]} costs {SLOTS[1]} yen, {{a}}",
        "None",
        f"{SLOTS[1]} {SLOTS[0]}",
    ]


def test_more_spans_than_slots_leave_the_others_in_the_text():
    text = " ".join(f"{{n{i}}}" for i in range(len(SLOTS) + 2))
    protected, _ = protect(tf.constant([text]), "ja")
    assert strings(protected)[0].endswith("{n8} {n9}")


def test_terms_get_their_translations_longest_first():
    terms = tf.constant(["木村", "木村屋", "C++ (a|b)", r"\E.*", ""])
    translations = tf.constant(["Kimura", "Kimuraya", "C++ (a|b)", "no", "nothing"])
    texts = tf.constant(["木村は木村屋でC++ (a|b)を学ぶ。", "{x}と木村。", "何も。"])
    protected, literals = protect(texts, "en", terms, translations)
    assert strings(protected) == [
        f"{SLOTS[0]}は{SLOTS[1]}で{SLOTS[2]}を学ぶ。",
        f"{SLOTS[0]}と{SLOTS[1]}。",
        "何も。",
    ]
    assert strings(literals[0])[:3] == ["Kimura", "Kimuraya", "C++ (a|b)"]
    assert strings(literals[1])[:2] == ["{x}", "Kimura"]
    none = tf.zeros([0], tf.string)
    assert strings(protect(texts, "en", none, none)[0]) == strings(protect(texts, "en")[0])


def test_numbers_are_copied_as_english_writes_them():
    for text, protected, *kept in (
        ("1900円と1,900円と１９００円", "_円と_円と_円", *["1,900"] * 3),
        ("1900年に千九百円", "_年に_円", "1900", "1,900"),
        ("23万5千円、1.5万円、2億円", "_円、_円、_円", "235,000", "15,000", "200,000,000"),
        ("百二十万三千四十五円", "_円", "1,203,045"),
        ("10月28日、十二月二十五日", "_月日、_月日", "October 28", "December 25"),
        ("十時半、12時45分、12:45、3.14", "_時分、_時分、_、_", "10:30", "12:45", "12:45", "3.14"),
        ("1938年5月9日の午後3時", "_月日の_時分", "May 9, 1938", "3 p.m."),
        ("十月に4%、3.5％、5パーセント", "_月に_、_、_", "October", "4%", "3.5%", "5%"),
        ("3対1で勝った", "_で勝った", "3-1"),
        ("午後3時間と五月雨、28日の10時", "午後3時間と五月雨、_日の_時", "28", "10"),
        ("A4を20枚、090-1234-5678", "_を_枚、_", "A4", "20", "090-1234-5678"),
        ("八百屋と五十嵐さん、千葉、二三日、一番、3人、百合",) * 2,
    ):
        found, literals = protect(tf.constant([text]), "en")
        (inside,) = strings(found)
        for slot in SLOTS:
            inside = inside.replace(slot, "_")
        assert inside == protected
        assert [literal for literal in strings(literals) if literal] == kept


def test_ordinal_numbers_get_their_endings():
    answers = tf.constant([f"on the {SLOTS[0]}th, the {SLOTS[1]}th and the {SLOTS[2]}th"])
    literals = tf.constant([["21", "12", "33", *[""] * (len(SLOTS) - 3)]])
    assert strings(restore(answers, literals, "en")) == ["on the 21st, the 12th and the 33rd"]


def test_dates_are_one_span_for_english_only():
    text = "5月12日の午後3時半"
    assert "月12日" not in strings(protect(tf.constant([text]), "en")[0])[0]
    protected, literals = protect(tf.constant([text]), "de")
    assert [c for c in strings(literals) if c] == ["12"]
    answers = tf.constant([f"on {SLOTS[0]} at {SLOTS[1]}."])
    _, literals = protect(tf.constant([text]), "en")
    assert strings(restore(answers, literals, "en")) == ["on May 12 at 3:30 p.m."]
    again = with_slots(tf.constant(["on May 12 at 3:30 p.m."]), literals)
    assert strings(again) == strings(answers)


CHARACTERS = st.sampled_from("あ。{}%s<b>@.a/h:😊\ue000\ue009\x1e ") | st.characters(codec="utf-8")


@settings(max_examples=20, derandomize=True, deadline=None)
@given(st.lists(st.text(CHARACTERS, max_size=20), min_size=1, max_size=4))
def test_nothing_is_lost_in_any_text(texts):
    protected, literals = protect(tf.constant(texts), "ja")
    expected = [text.replace("\x1e", " ") for text in texts]
    assert strings(restore(protected, literals, "ja")) == expected

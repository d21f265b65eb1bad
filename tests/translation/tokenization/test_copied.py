import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

from keras_attn.translation.tokenization.copied import SLOTS, protect, restore, spans


def strings(tensor):
    return [text.decode() for text in tensor.numpy().ravel()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://example.com/a?b=1.2#c。次", ["https://example.com/a?b=1.2#c"]),
        ("www.example.org/を見て", ["www.example.org/"]),
        ("連絡は a.b+c@mail.example.co.jp へ。", ["a.b+c@mail.example.co.jp"]),
        ("{name}と{{count}}と${path}と{}", ["{name}", "{{count}}", "${path}", "{}"]),
        ("%sは%(n)d個、%1$sと%.2f", ["%s", "%(n)d", "%1$s", "%.2f"]),
        ('<b>太字</b>と<a href="x">と&nbsp;', ["<b>", "</b>", '<a href="x">', "&nbsp;"]),
        ("@tanakaさん #夏休み #summer", ["@tanaka", "#summer"]),
        ("`print(1)`を実行", ["`print(1)`"]),
        ("報告書.pdfとreport.v2.pdfとtrain.py", ["report.v2.pdf", "train.py"]),
        ("/usr/local/binとC:\\Users\\me", ["/usr/local/bin", "C:\\Users\\me"]),
        ("今日は😊です👨‍👩‍👧", ["😊", "👨‍👩‍👧"]),
        ("50%です。3.5cmで2020/10/28、1,900円、午後3時。「はい」〜", []),
    ],
)
def test_spans_are_found_and_come_back(text, expected):
    assert spans(text) == expected
    protected, literals = protect(tf.constant([text]))
    (inside,) = strings(protected)
    assert [c for c in inside if c in SLOTS] == list(SLOTS[: len(expected)])
    assert strings(restore(protected, literals)) == [text]


def test_slots_are_filled_wherever_the_model_puts_them_and_missing_ones_appended():
    _, literals = protect(tf.constant(["{a}と{b}と{c}", "なし"]))
    answers = [f"{SLOTS[2]} and {SLOTS[0]}, {SLOTS[0]}.", f"None{SLOTS[3]}."]
    assert strings(restore(tf.constant(answers), literals)) == ["{c} and {a}, {a}. {b}", "None."]


def test_more_spans_than_slots_leave_the_others_in_the_text():
    text = " ".join(f"{{n{i}}}" for i in range(len(SLOTS) + 2))
    protected, literals = protect(tf.constant([text]))
    assert strings(protected)[0].endswith("{n8} {n9}")
    assert strings(restore(protected, literals)) == [text]


def test_terms_get_their_translations_longest_first():
    terms = tf.constant(["木村", "木村屋", "C++ (a|b)", r"\E.*", ""])
    translations = tf.constant(["Kimura", "Kimuraya", "C++ (a|b)", "no", "nothing"])
    texts = tf.constant(["木村は木村屋でC++ (a|b)を学ぶ。", "{x}と木村。", "何も。"])
    protected, literals = protect(texts, terms, translations)
    assert strings(protected) == [
        f"{SLOTS[0]}は{SLOTS[1]}で{SLOTS[2]}を学ぶ。",
        f"{SLOTS[0]}と{SLOTS[1]}。",
        "何も。",
    ]
    assert strings(literals[0])[:3] == ["Kimura", "Kimuraya", "C++ (a|b)"]
    assert strings(literals[1])[:2] == ["{x}", "Kimura"]


def test_no_terms_are_as_no_glossary():
    none = tf.zeros([0], tf.string)
    texts = tf.constant(["{x}と木村。"])
    assert strings(protect(texts, none, none)[0]) == strings(protect(texts)[0])


@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.text(
            st.sampled_from("あ。{}%s<b>@.a/h:😊\ue000\ue009\x1e ") | st.characters(codec="utf-8"),
            max_size=20,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_nothing_is_lost_in_any_text(texts):
    protected, literals = protect(tf.constant(texts))
    assert strings(restore(protected, literals)) == [text.replace("\x1e", " ") for text in texts]

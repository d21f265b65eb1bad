from keras_attn.translation.export.translator import Hypothesis
from keras_attn.translation.remarks import MAX_NUMBERS, Remarks


def test_texts_are_counted_and_listed_once(capsys):
    sure, unsure, other = (Hypothesis("a", 0.0, *flags) for flags in ((), (True,), (False, True)))
    remarks = Remarks("ja", "line", has_uncertain=True)
    remarks.note([sure, other])
    remarks.write()
    remarks.note([unsure, other, other])
    remarks.write()
    remarks.write()
    unmarked = Remarks("xx", "text", has_uncertain=False)
    unmarked.note([unsure] + [other] * (MAX_NUMBERS + 1))
    unmarked.write()
    *lines, last = capsys.readouterr().err.splitlines()
    assert lines == [
        "1 line is not in Japanese and is returned as given: 2.",
        "2 lines are not in Japanese and are returned as given: 4, 5.",
        "1 line has an uncertain translation: 3.",
    ]
    assert last.startswith("21 texts are not in xx and are returned as given: 2, 3, 4,")
    assert last.endswith(", 20, 21, ...")

"""Rows of the tables of patterns: alternatives, slots, brackets, and what is refused."""

import pytest
from keras_attn_data.everyday import templates


def choices(ja, en, level="polite", last=False):
    return templates.choose_alternatives(ja, en, level, lambda items: items[-1 if last else 0])


def test_alternatives_are_synonyms_pairs_or_levels():
    assert choices("(とても|すごく)いい", "great", last=True) == ("すごくいい", "great")
    pair = "(a=右/左)の(b=角/信号)", "the (b=corner/light) on the (a=right/left)"
    assert choices(*pair, last=True) == ("左の信号", "the light on the left")
    levels = [
        choices("(ですが~だけど)", "but", level)[0] for level in ("polite", "plain", "casual")
    ]
    assert levels == ["ですが", "だけど", "だけど"]
    assert choices("({thing:a|b}|x)", "x")[0] == "{thing:a|b}"


def test_a_clause_has_subject_and_verb_and_perhaps_a_tense():
    (clause,) = templates.parse("[the last train *leave at {clock:8-20}:past not]", True)
    assert (clause.subject, clause.forms, clause.negated) == (("the last train",), ("past",), True)
    assert clause.parts[0] == "leave at "
    assert templates.slots_of("{thing}{thing:food}")["thing"].tags == "food"


def test_a_row_that_cannot_be_read_is_refused():
    for ja, en, forms, message in (
        ("[飲む]", "[I drink]", "polite past?", "`forms` must be of"),
        ("(a/b)", "a", "-", "groups with / must have as many"),
        ("a", "(a|b)", "-", "English has no alternatives"),
    ):
        with pytest.raises(ValueError, match=message):
            templates.row("name", ja, en, forms)
    with pytest.raises(ValueError, match="Expected forms of .* Received: .'過去'. in .飲む:過去."):
        templates.parse("[飲む:過去]", False)

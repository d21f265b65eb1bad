"""Set phrases: greetings, thanks, conversation, shopping, travel, emergencies.

Nothing can be learnt about a set phrase from other set phrases. All of a subject are therefore one
combination, so that no split holds out a part of them.
"""

from collections.abc import Iterator

from keras_attn_data.everyday import lexicon

_ENDS = {".": ("。", ""), "!": ("。", "", "!"), "?": ("。", "", "?")}


def kinds() -> list[str]:
    """Subjects of the set phrases, each of which is a pattern."""
    return list(dict.fromkeys(row["kind"] for row in lexicon.rows("set_phrases")))


def pairs(kind: str) -> Iterator[tuple[str, str]]:
    """Every wording with one or all of the marks that people put after it."""
    for row in lexicon.rows("set_phrases"):
        if row["kind"] != kind:
            continue
        for i, ja in enumerate(row["ja"].split("|")):
            ends = _ENDS[row["ends"]]
            if row["ends"] == "?" and not ja.endswith(("か", "の")):
                ends = ("?",)  # only the mark shows that it is a question
            for end in ends if i < 2 else ends[i % len(ends) :][:1]:
                yield ja + end, row["en"].rstrip(".!") + "!" if end == "!" else row["en"]

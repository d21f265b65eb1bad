"""Corpora that their publishers serve as one archive: a row each."""

from collections.abc import Callable
from typing import NamedTuple

from keras_attn_data.published import subtitles


class Published(NamedTuple):
    """An archive with sentence pairs.

    Attributes:
        address: URL of the archive, tar or zip.
        languages: Languages of the columns, or of the members, in their order.
        members: For each part of the publisher's split, the end of the name of one member with
            lines `first TAB second`, or the ends of two names, line by line.
        licence: Identifier on model hubs.
        credit: Attribution that the licence requires.
        num_pairs: Approximate number of pairs of the part `train`, for messages.
        mend: Function of a text and its language that removes what is not of the sentence.
        sha256: Hash, where the publisher gives one.
    """

    address: str
    languages: tuple[str, str]
    members: dict[str, tuple[str, ...]]
    licence: str
    credit: str
    num_pairs: int = 0
    mend: Callable[[str, str], str] = lambda text, language: text
    sha256: str = ""


# Prefix of the name of a corpus of OPUS, which lists the archives itself.
OPUS = "opus:"

_KFTT = "kftt-data-1.0/data/orig/kyoto"

PUBLISHED = {
    "jesc": Published(
        "https://nlp.stanford.edu/projects/jesc/data/split.tar.gz",
        ("en", "ja"),
        {part: (f"split/{part}",) for part in ("train", "dev", "test")},
        "cc-by-sa-4.0",
        "Sentences: JESC, Japanese-English Subtitle Corpus, by R. Pryzant, Y. Chung, D. Jurafsky "
        "and D. Britz, https://nlp.stanford.edu/projects/jesc/, licence CC BY-SA 4.0 "
        "(https://creativecommons.org/licenses/by-sa/4.0/).",
        2_800_000,
        subtitles.mend_lower_case,
    ),
    "kftt": Published(
        "https://www.phontron.com/kftt/download/kftt-data-1.0.tar.gz",
        ("ja", "en"),
        {
            part: (f"{_KFTT}-{part}.ja", f"{_KFTT}-{part}.en")
            for part in ("train", "dev", "tune", "test")
        },
        "cc-by-sa-3.0",
        "Sentences: The Kyoto Free Translation Task by G. Neubig, https://www.phontron.com/kftt/, "
        "of the Japanese-English Bilingual Corpus of Wikipedia's Kyoto Articles by NICT, licence "
        "CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/).",
        440_000,
    ),
}


def is_published(name: str) -> bool:
    """Whether a name is `jesc`, `kftt:test`, `opus:Books` or the like."""
    return name.partition(":")[0] in PUBLISHED or name.startswith(OPUS)


def rights(name: str) -> tuple[str, str]:
    """Licence of a published corpus, as model hubs name it, and credit."""
    if row := PUBLISHED.get(name.partition(":")[0]):
        return row.licence, row.credit
    return "other", opus_credit(name.removeprefix(OPUS))


def opus_credit(corpus: str) -> str:
    """Credit of a corpus of OPUS, whose licence OPUS states on its pages only."""
    return (
        f"Sentences: {corpus} of OPUS (https://opus.nlpl.eu/, J. Tiedemann, 2012), licence as "
        "stated there."
    )

"""Japanese names of people and places, and their English spelling."""

import re
from collections import defaultdict
from collections.abc import Iterable

from keras_attn.translation.text.numbers import whole
from keras_attn.translation.text.tables import read_table

# Titles after names of people.
TITLE = (
    "さん|様|さま|君|くん|ちゃん|氏|先生|先輩|教授|博士|社長|部長|課長|係長|店長|監督|選手|議員|大臣|首相"
    "|知事|容疑者"
)

# Words that hold a name by chance.
NO_NAME = (
    "登山[口形]|火山[口内]|政府中|空港区|以上野|高知能|今季十勝|明日香港|第?三木曜|機能登|可能登|目白押"
    "|[光信修]一[覧日]|関東[京側]|[浸断]水戸|中野菜|米子会社|大森林|大内[径視]|二日市内|十勝目"
)


def _any_of(names: Iterable[str]) -> str:
    """Regular expression of any name, the longest first; first characters once, for speed."""
    by_first = defaultdict(list)
    for name in names:
        by_first[name[0]].append(name[1:])
    return "|".join(
        first + "(?:" + "|".join(map(re.escape, sorted(rests, key=len, reverse=True))) + ")"
        for first, rests in by_first.items()
    )


_ROWS = read_table("names.tsv")
# English spelling of each name.
SPELLINGS = {row["ja"]: row["en"] for row in _ROWS}
# Regular expressions of all names, and of those that need no title: the others have "title" in the
# column `only`.
PATTERN = _any_of(SPELLINGS)
FIRST = "".join(dict.fromkeys(name[0] for name in SPELLINGS))
PATTERN_WITHOUT_TITLE = _any_of(row["ja"] for row in _ROWS if not row["only"])


# The end of a longer word that is like a name, before a title: 藤森さん, 優勝監督.
END_OF_WORD = f"[々一-鿿](?:{'|'.join(name for name in SPELLINGS if len(name) == 1)})(?:{TITLE})"


def ways_to_write(name: str) -> str:
    """Regular expression of the ways to write a name in English."""
    return whole(SPELLINGS[name])

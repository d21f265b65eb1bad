"""A dictionary in the form of JMdict, with entries made by tests."""

import gzip
import io
from itertools import count

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE JMdict [<!ENTITY n "noun (common)">]>\n<JMdict>\n'
_NUMBERS = count(1000000)


def entry(kanji="猫", kana="ねこ", glosses=("cat",), tags=("n",), marks=("ichi1",), misc=()):
    """Text of an entry; `marks` are those of frequency, on the kanji and on the kana."""

    def many(tag, texts):
        return "".join(f"<{tag}>{text}</{tag}>\n" for text in texts)

    codes = many("pos", (f"&{tag};" for tag in tags)) + many("misc", (f"&{one};" for one in misc))
    written = f"<k_ele>\n{many('keb', [kanji])}{many('ke_pri', marks)}</k_ele>\n" if kanji else ""
    return (
        f"<entry>\n<ent_seq>{next(_NUMBERS)}</ent_seq>\n{written}"
        f"<r_ele>\n{many('reb', [kana])}{many('re_pri', marks)}</r_ele>\n"
        f"<sense>\n{codes}{many('gloss', glosses)}</sense>\n"
        '<sense>\n<gloss xml:lang="dut">poes</gloss>\n</sense>\n</entry>\n'
    )


def written(*entries):
    """Compressed file of entries."""
    return io.BytesIO(gzip.compress((HEAD + "".join(entries) + "</JMdict>\n").encode()))

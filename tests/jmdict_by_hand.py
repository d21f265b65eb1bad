"""A dictionary in the form of JMdict, with entries made by tests."""

import gzip
import io
from itertools import count

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE JMdict [
<!ENTITY n "noun (common) (futsuumeishi)">
]>
<JMdict>
"""
_NUMBERS = count(1000000)


def entry(kanji="猫", kana="ねこ", glosses=("cat",), tags=("n",), marks=("ichi1",), misc=()):
    """Text of an entry; `marks` are those of frequency, on the kanji and on the kana."""
    wrap = {
        "ke_pri": marks,
        "re_pri": marks,
        "pos": [f"&{tag};" for tag in tags],
        "misc": [f"&{mark};" for mark in misc],
        "gloss": [gloss.replace("&", "&amp;") for gloss in glosses],
    }
    lines = {
        tag: "".join(f"<{tag}>{text}</{tag}>\n" for text in texts) for tag, texts in wrap.items()
    }
    written = f"<k_ele>\n<keb>{kanji}</keb>\n{lines['ke_pri']}</k_ele>\n" if kanji else ""
    return (
        f"<entry>\n<ent_seq>{next(_NUMBERS)}</ent_seq>\n{written}"
        f"<r_ele>\n<reb>{kana}</reb>\n{lines['re_pri']}</r_ele>\n"
        f"<sense>\n{lines['pos']}{lines['misc']}{lines['gloss']}</sense>\n"
        '<sense>\n<gloss xml:lang="dut">poes</gloss>\n</sense>\n</entry>\n'
    )


def written(*entries):
    """Compressed file of entries."""
    return io.BytesIO(gzip.compress((HEAD + "".join(entries) + "</JMdict>\n").encode()))

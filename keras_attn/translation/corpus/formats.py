"""Corpora in other files than lines with a TAB: TMX, XLSX, CSV; and what to do about the rest."""

import csv
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import IO

from keras_attn.languages import code_of
from keras_attn.translation.corpus.pairs import Pair

Rows = list[list[str]]

# Beginnings of files that are not read, as regular expressions, and what to do with them.
_NOT_READ = {
    rb"\xd0\xcf\x11\xe0": "an old Office file. Save it as XLSX, or as CSV in UTF-8",
    rb"%PDF": "a PDF file. Copy the sentences to a table with two columns",
    rb"BZh": "a bzip2 file. Unpack it with `bunzip2`",
    rb"\xfd7zXZ": "an xz file. Unpack it with `unxz`",
    rb"\x28\xb5\x2f\xfd": "a zstd file. Unpack it with `unzstd`",
    rb"7z\xbc\xaf": "a 7z file. Unpack it",
    rb"<\?xml": "XML without `<tmx`",
    rb'(\[\s*)?\{\s*"': "which looks like JSON. Write a line `source TAB target` for each pair, "
    "such as by `jq -r '[.ja, .en] | @tsv'`",
}
# Names of encodings of Japanese text, by those that `iconv` knows.
_ENCODINGS = {"euc-jp": "EUC-JP", "cp932": "Shift-JIS"}
_KANA = re.compile("[ぁ-んァ-ヶ]")
# Elements of TMX whose text is code of a document, not of the sentence.
_CODES = ("bpt", "ept", "it", "ph", "ut")
# Share of the lines that decides what form a file has, and lines that are looked at.
_MOST, _LOOKED_AT = 0.9, 1000


def read_other(path: Path, file: IO[bytes], source: str, target: str) -> list[Pair | None] | None:
    """Pairs of a file in TMX or XLSX; None for a file of lines."""
    start = file.read(4096).replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
    file.seek(0)
    if start.startswith(b"PK\x03\x04"):
        return _read_workbook(path, file)
    if start.startswith((b"<?xml", b"<!DOCTYPE", b"<!--", b"<tmx")) and b"<tmx" in start:
        return _read_tmx(path, file, source, target)
    for beginning, form in _NOT_READ.items():
        if re.match(beginning, start):
            raise _not_read(path, form)
    return None


def _not_read(path: Path, form: str) -> ValueError:
    return ValueError(f"A corpus must be text, TMX or XLSX. Received: `{path}`, {form}.")


def not_lines(name: Path | str, reason: str) -> ValueError:
    """Error of a file that is not in lines of two columns."""
    return ValueError(
        f"A corpus must hold lines of UTF-8 text, source TAB target. Received: `{name}`, {reason}."
    )


def without_quotes(lines: Sequence[str | None]) -> Sequence[str | None]:
    """Lines without the quotes around each of two columns, if most lines have them."""
    quoted = re.compile(r'\s*"([^\t]*)"\t"([^\t]*)"\s*')
    looked_at = [line for line in lines[:_LOOKED_AT] if line]
    if sum(quoted.fullmatch(line) is not None for line in looked_at) < _MOST * len(looked_at):
        return lines
    # A quote inside a column is written twice.
    found = ((line, quoted.fullmatch(line or "")) for line in lines)
    return [
        line if match is None else "\t".join(match.groups()).replace('""', '"')
        for line, match in found
    ]


def read_csv(path: Path, lines: Sequence[str | None]) -> list[Pair | None]:
    """Pairs of lines without TAB, with two columns of text between commas or semicolons."""
    found = [(mark, *_size(_split(lines[:_LOOKED_AT], mark))) for mark in ",;"]
    mark, size, share = max(found, key=itemgetter(2))
    if share >= _MOST:
        rows = _split(lines, mark)
        texts = _columns_of_text([row for row in rows if any(row)])
        if len(texts) == 2:
            return [_pair(row, size, texts) for row in rows]
    example = next((line for line in lines if line and line.strip()), "")
    if "\0" in example:
        reason = f"which looks like UTF-16. Convert it: `{_iconv(path, 'utf-16le')}`"
    elif " ||| " in example:
        reason = "whose columns are separated by ` ||| `. Write TABs: `sed 's/ ||| /\\t/'`"
    elif size > 1 and share:
        reason = (
            f"whose lines do not have two columns of text between `{mark}`. Put a sentence with "
            "such a mark into quotes, or write a TAB between source and target"
        )
    else:
        reason = (
            "in which no line has a TAB. Sentences of one language need a second file: "
            "--data sources.txt,targets.txt"
        )
    raise not_lines(path, reason)


def _size(rows: Rows) -> tuple[int, float]:
    """The commonest number of columns above one, and its share of the rows."""
    filled = [len(row) for row in rows if any(row)]
    counts = Counter(size for size in filled if size > 1)
    size, count = counts.most_common(1)[0] if counts else (1, 0)
    return size, count / max(len(filled), 1)


def check_columns(path: Path, lines: Sequence[str | None]) -> None:
    """Check that the first two of several columns are those of the sentences."""
    rows = [line.split("\t") for line in lines[:_LOOKED_AT] if line and line.count("\t") > 1]
    if len(rows) < len(lines[:_LOOKED_AT]) / 2:
        return
    texts = _columns_of_text(rows)
    if len(texts) < 2 or texts[:2] == [0, 1]:
        return
    kept = ",".join(str(i + 1) for i in texts[:2])
    raise ValueError(
        "The first two columns of a corpus must be source and target. "
        f"Received: `{path}`, with {max(map(len, rows))} columns, of which {texts[0] + 1} and "
        f"{texts[1] + 1} hold text. Keep those: `cut -f{kept} {path.name} > pairs.tsv`."
    )


def remarks(name: str, pairs: Iterable[Pair | None], source: str, target: str) -> Iterator[str]:
    """A sentence for each side whose text is already cut into tokens."""
    looked_at = [pair for pair, _ in zip(pairs, range(_LOOKED_AT), strict=False) if pair]
    for side, language in enumerate((source, target)):
        texts = [pair[side] for pair in looked_at if pair[side]]
        if _share(texts, "▁|@@( |$)") > 0.5:
            form, mend = "pieces of a tokenizer", "Decode them with that tokenizer"
        elif (
            code_of(language) in ("ja", "zh") and _share(texts, r"[ぁ-ヺ一-鿿] [ぁ-ヺ一-鿿]") > 0.5
        ):
            form, mend = "words with spaces between them", "Remove these spaces"
        elif _share(texts, r"\S [.?!]$") > 0.5:
            form, mend = "words, with a space before the full stop", "Detokenize them"
        else:
            continue
        yield (
            f"{name}: the `{language}` side holds {form}, so the model would learn to read and "
            f"write such text. {mend} first."
        )


def _share(texts: Sequence[str], pattern: str) -> float:
    found = re.compile(pattern)
    return sum(found.search(text) is not None for text in texts) / max(len(texts), 1)


def _split(lines: Iterable[str | None], mark: str) -> Rows:
    # Strict parsing would end a whole file at one stray quote.
    try:
        return list(csv.reader(((line or "") + "\n" for line in lines), delimiter=mark))
    except csv.Error:
        return []


def _pair(row: Sequence[str], size: int, texts: Sequence[int]) -> Pair | None:
    if len(row) == size:
        return Pair(*(row[i] for i in texts))
    return None if any(row) else Pair("", "")


def _columns_of_text(rows: Rows) -> list[int]:
    """Positions of the columns that hold letters in most rows."""
    rows = rows[:_LOOKED_AT]
    return [
        i
        for i in range(max(map(len, rows), default=0))
        if sum(i < len(row) and any(map(str.isalpha, row[i])) for row in rows) > len(rows) / 2
    ]


def not_utf8(path: Path, content: bytes) -> ValueError:
    """Error of a text that is not UTF-8, with the command that converts it."""
    texts = {one: content.decode(one, "ignore") for one in _ENCODINGS}
    japanese = [one for one, text in texts.items() if len(_KANA.findall(text)) > 0.1 * len(text)]
    encoding = "utf-16le" if b"\0" in content else next(iter(japanese), "ENCODING")
    names = {**_ENCODINGS, "utf-16le": "UTF-16", "ENCODING": "another encoding"}
    return ValueError(
        f"A corpus must be UTF-8. Received: `{path}`, which looks like {names[encoding]}. Convert "
        f"it: `{_iconv(path, encoding)}`."
    )


def _iconv(path: Path, encoding: str) -> str:
    return f"iconv -f {encoding} -t utf-8 {path.name} > utf8.tsv"


def _read_tmx(path: Path, file: IO[bytes], source: str, target: str) -> list[Pair | None]:
    wanted = code_of(source), code_of(target)
    seen: set[str] = set()
    pairs: list[Pair | None] = []
    try:
        for _, unit in ElementTree.iterparse(file):
            if _plain(unit.tag) != "tu":
                continue
            sides = {}
            for variant in unit.iterfind("{*}tuv"):
                names = {_plain(name): value for name, value in variant.attrib.items()}
                segment = variant.find("{*}seg")
                sides[code_of(names.get("lang", ""))] = "" if segment is None else _text(segment)
            seen |= set(sides)
            if sides.keys() >= set(wanted):
                pairs.append(Pair(*(sides[code] for code in wanted)))
            unit.clear()
    except ElementTree.ParseError as error:
        raise ValueError(f"`{path}` cannot be read as TMX: {error}.") from error
    if not pairs:
        raise ValueError(
            f"A TMX file must hold `{source}` and `{target}`. Received: `{path}`, with "
            f"{', '.join(sorted(seen)) or 'no language'}. Choose with --source and --target."
        )
    return pairs


def _text(element: ElementTree.Element) -> str:
    """Text of a segment without codes."""
    parts = [element.text or ""]
    for part in element:
        parts += ["" if _plain(part.tag) in _CODES else _text(part), part.tail or ""]
    return "".join(parts)


def _plain(name: str) -> str:
    """Name of an element or attribute without its namespace."""
    return name.rpartition("}")[2]


def _read_workbook(path: Path, file: IO[bytes]) -> list[Pair | None]:
    """Pairs of the two columns with text in the first sheet of a workbook."""
    import openpyxl  # takes a third of a second

    try:
        sheet = openpyxl.load_workbook(file, read_only=True, data_only=True).worksheets[0]
        sheet.reset_dimensions()  # which some programs write wrongly
        cells = list(sheet.iter_rows(values_only=True))
    except Exception as error:  # openpyxl, zipfile and the parser of XML raise many types
        form = "a ZIP archive without a sheet of XLSX. Unpack it, or save the table as XLSX"
        raise _not_read(path, form) from error
    rows = [["" if value is None else str(value) for value in row] for row in cells]
    texts = _columns_of_text(rows)
    if len(texts) != 2:
        raise ValueError(
            "A table of a corpus must have two columns of text, source and target. Received: "
            f"`{path}`, a workbook with {len(texts)}. Save these two as a table of their own."
        )
    return [Pair(*(row[i] if i < len(row) else "" for i in texts)) for row in rows]

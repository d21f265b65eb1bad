"""Files in the forms that people have: read, or told apart with the way out."""

import gzip
import io
import zipfile

import pytest

from keras_attn.translation.corpus.load import load_corpus, load_test_set

PAIRS = [("猫が寝ています。", "The cat is sleeping."), ("お茶を、ください。", "Tea, please.")]
PAIRS += [(f"箱{i}を開けた。", f'I opened "box {i}".') for i in range(9)]
TEXT = "\n".join("\t".join(pair) for pair in PAIRS)
# What Excel and translation tools write around the texts.
SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def read(path, *languages):
    return [(source, references[0]) for source, references in load_test_set(path, *languages)]


def workbook(rows):
    """Bytes of an XLSX file; the first sheet is stored second."""
    texts = dict.fromkeys(text for row in rows for text in row if not text.isdigit())
    # With kana of the kanji, and with a part in another font.
    strings = "".join(
        f"<si><r><t>{text[:2]}</t></r><r><t>{text[2:]}</t></r><rPh sb='0' eb='1'><t>カナ</t></rPh>"
        "</si>"
        for text in texts
    )
    numbers = {text: i for i, text in enumerate(texts)}
    body = ""
    for i, row in enumerate(rows, start=1):
        cells = (
            f'<c r="{column}{i}"><v>{text}</v></c>'
            if text.isdigit()
            else f'<c r="{column}{i}" t="s"><v>{numbers[text]}</v></c>'
            for column, text in zip(("B", "D", "AA"), row, strict=False)
        )
        body += f'<row r="{i}">{"".join(cells)}</row>'
    body += f'<row r="{len(rows) + 1}"/>'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sharedStrings.xml" ContentType="{TYPE}.sharedStrings+xml"/>'
        "</Types>",
        "xl/workbook.xml": f'<workbook {SHEET} xmlns:r="{RELATIONS}"><sheets>'
        '<sheet name="a" sheetId="2" r:id="rId7"/><sheet name="b" sheetId="1" r:id="rId1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="rId1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="rId7" Type="{RELATIONS}/worksheet" Target="worksheets/sheet2.xml"/>'
        "</Relationships>",
        "xl/sharedStrings.xml": f"<sst {SHEET}>{strings}</sst>",
        "xl/worksheets/sheet1.xml": f"<worksheet {SHEET}><sheetData/></worksheet>",
        "xl/worksheets/sheet2.xml": f"<worksheet {SHEET}><sheetData>{body}</sheetData></worksheet>",
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def tmx(pairs, first="ja-JP", second="EN-US"):
    def side(language, text):
        return f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>'

    units = "".join(
        f"<tu><note>x</note>{side(first, f'{one[:1]}<ph>&lt;b&gt;</ph>{one[1:]}')}"
        f"{side(second, f'<hi>{other[:3]}</hi>{other[3:]}')}</tu>"
        for one, other in pairs
    )
    return (
        '<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">'
        f'<tmx version="1.4"><header/><body>{units}</body></tmx>'
    )


def table(mark, pairs=PAIRS):
    quote = '"{}"'.format
    return "\n".join(mark.join(quote(x.replace('"', '""')) for x in pair) for pair in pairs)


READ = {
    "plain": TEXT,
    "quoted columns": table("\t"),
    "CSV": table(","),
    "CSV of Excel where the comma is for decimals": table(";"),
    "CSV with an unquoted side": table(",").replace('"猫が寝ています。"', "猫が寝ています。"),
    "CSV with numbers": table(",", [(str(i), *pair) for i, pair in enumerate(PAIRS)]),
    "XLSX": workbook(PAIRS),
    "XLSX with numbers": workbook([(str(i), *pair) for i, pair in enumerate(PAIRS)]),
    "TMX": tmx(PAIRS),
    "TMX in UTF-16": tmx(PAIRS).replace('"1.0"', '"1.0" encoding="UTF-16"').encode("utf-16"),
    "TMX in gzip": gzip.compress(tmx(PAIRS).encode()),
}
COLUMNS = "\n".join(f"{i}\t{one}\t{i + 9}\t{other}" for i, (one, other) in enumerate(PAIRS))
REFUSED = [
    ("one language", "\n".join(one for one, _ in PAIRS), "no line has a TAB.*sources.txt,targets"),
    ("commas", "猫だ。,A cat, yes.\n犬だ。,A dog, no, yes.\n鳥,bird", "between `,`.*into quotes"),
    ("bars", TEXT.replace("\t", " ||| "), r"sed 's/ \|\|\| /\\t/'"),
    ("Shift-JIS", TEXT.encode("cp932"), "looks like Shift-JIS.*`iconv -f cp932 -t utf-8 own.tsv"),
    ("EUC-JP", TEXT.encode("euc_jp"), "looks like EUC-JP.*`iconv -f euc-jp"),
    ("Latin-1", "é\tè\nà\tç".encode("latin-1"), "another encoding.*iconv -f ENCODING"),
    ("UTF-16", TEXT.encode("utf-16-le"), "looks like UTF-16.*iconv -f utf-16le"),
    ("numbers", COLUMNS, "with 4 columns, of which 2 and 4 hold text.*`cut -f2,4 own.tsv > pairs"),
    ("workbook", workbook([(*pair, "note") for pair in PAIRS]), "a workbook with 3. Save these"),
    ("ZIP", b"PK\x03\x04 and more", "a ZIP archive without a sheet"),
    ("old Excel", b"\xd0\xcf\x11\xe0\xa1\xb1", "Save it as XLSX, or as CSV in UTF-8"),
    ("xz", b"\xfd7zXZ\0", "`unxz`"),
    ("JSON", '[{"ja": "猫", "en": "cat"}]', "looks like JSON.*jq -r"),
    ("other XML", '<?xml version="1.0"?><xliff/>', "XML without `<tmx`"),
    ("TMX of others", tmx(PAIRS, "fr", "de"), "must hold `ja` and `en`.*with de, fr.*--source"),
    ("broken TMX", tmx(PAIRS)[:-9], "cannot be read as TMX: unclosed token"),
]


@pytest.mark.parametrize("form", READ)
def test_a_file_of_two_plain_columns_is_read(write, form):
    assert read(write(READ[form])) == PAIRS


def test_the_languages_choose_the_columns_of_tmx(write):
    assert read(write(tmx(PAIRS)), "en", "ja") == [(other, one) for one, other in PAIRS]


@pytest.mark.parametrize(("form", "content", "message"), REFUSED)
def test_other_files_are_told_apart_with_the_way_out(write, form, content, message):
    with pytest.raises(ValueError, match=message) as caught:
        load_corpus(write(content))
    assert "own.tsv`" in str(caught.value)


def test_what_looks_like_another_form_but_is_text_is_read(write):
    for content in ("[Laughter] {\t[笑い]「\n" * 3, '"A" or "B"\tAかB\n"C"?\tC?\n', "<b>\t<tmx>\n"):
        assert len(read(write(content), "en", "ja")) == content.count("\n")


def test_text_that_is_already_cut_into_tokens_is_pointed_out(write):
    forms = {
        "`ja` side holds words with spaces": [(" ".join(one), other) for one, other in PAIRS],
        "`en` side holds words, with a space": [(x, y.replace(".", " .")) for x, y in PAIRS],
        "`ja` side holds pieces of a tok": [(f"▁{one[:2]} {one[2:]}", y) for one, y in PAIRS],
    }
    for warning, pairs in forms.items():
        found = load_corpus(write("\n".join(map("\t".join, pairs))))
        assert any(warning in one for one in found.warnings), warning
    assert not any("side holds" in one for one in load_corpus(write(TEXT)).warnings)


def test_few_pairs_are_counted_and_can_all_be_trained_on(write):
    path = write("\n".join(TEXT.splitlines()[:3]))
    found = load_corpus(path)
    (warning, _) = found.warnings
    assert "1 pair is trained on, 2 are held out for validation and test." in warning
    assert "`--validation none` trains on all." in warning and len(found.train) == 1
    for count in (1, 2, 3, 9):
        found = load_corpus(write("\n".join(TEXT.splitlines()[:count])), validation="none")
        assert sorted(found.train) == sorted(PAIRS[:count]) == sorted(found.parts[0].pairs)
        assert found.validation and found.test  # the scores need some
        (warning,) = found.warnings
        assert "the scored sentences are trained on" in warning
        assert found.counts["train"] == count and not found.counts["test"]
    held = load_corpus(write(TEXT), hold_out=write(PAIRS[0][0] + "\tx", "held"), validation="none")
    assert (held.counts["train"], held.counts["held_out"]) == (len(PAIRS) - 1, 1)
    with pytest.raises(ValueError, match="at least 3 groups.*or train on all with `--validation n"):
        load_corpus(write("\t".join(PAIRS[0])))

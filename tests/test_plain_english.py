"""Words of code and documentation are those that people search for."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("keras_attn", "benchmarks", "data", "docs", "examples", "tests")
# Paraphrases, old words and vague ones, as regular expressions, and what to write instead.
INSTEAD = {
    r"\banew\b": "again",
    r"\bby heart\b": "overfitting",
    r"\bdearer\b": "more expensive",
    r"\bas above\b": "name what is meant",
    r"\bthis hour\b": "name the run",
    r"\bso many\b": "name the number",
    r"\bsaid EOS\b": "finished",
    r"\bof old\b": "earlier",
    r"\bthereof\b": "of it",
    r"\bwhilst\b": "while",
    r"\bhitherto\b": "until now",
    # Scores, requests and masks in the words of the field.
    r"\b(comes|came) to (BLEU|about \d|\d)": "scores, reaches",
    r"\bbeside\b": "next to, with, compared with",
    r"\bas they ask\b|\bprograms ask\b|\bto ask from\b": "send requests, is compatible with",
    r"\bthat you have\b": "that is installed",
    r"(?<!there )\b(is|are|was|were) no (?!longer\b|more\b)": "is not a",
    r"= may attend|\bmay be attended\b|means .may attend": "True = attend, valid keys",
    r"\bhold at once\b": "are combined with AND",
    r"\b(arrive|come|reach \S+ \S+) by themselves\b": "automatically",
    r"\binto service\b": "deploy",
    r"\b(is|are) told of\b|\btells of\b": "is reported, names",
    r"\bof one's own\b": "custom, your own",
    r"\bhung up on\b": "disconnected",
}
TRANSLATED = ("docs/tutorials/ja", "docs/tutorials/ko")


def written():
    """Files with English text, by their path from the root."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("*.py")]
    for folder in FOLDERS:
        for end in ("py", "md", "js", "html"):
            files += (ROOT / folder).rglob(f"*.{end}")
    files += (ROOT / "keras_attn/translation").rglob("[cl]*.[tj]s*")  # options, legend of reports
    names = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {name: path for name, path in names.items() if not name.startswith(TRANSLATED)}


def test_vague_words_are_not_used():
    pattern = re.compile("|".join(f"(?P<_{i}>{words})" for i, words in enumerate(INSTEAD)), re.I)
    files = written()
    assert len(files) > 500
    found = [
        f"{name}:{number}: write {[*INSTEAD.values()][int(match.lastgroup[1:])]!r}: {line.strip()}"
        for name, path in files.items()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert not found, "\n".join(found)


def test_sentences_of_the_kind_that_made_readers_stop_are_found():
    for words, example in {
        "scores": "It comes to BLEU 93.",
        "next to": "the layers, beside the backend",
        "is not a": "A list is no tensor.",
        "True =": "keys that may be attended",
    }.items():
        found = [better for pattern, better in INSTEAD.items() if re.search(pattern, example, re.I)]
        assert len(found) == 1 and words in found[0], example


def test_japanese_and_korean_texts_use_the_terms_of_the_glossary():
    instead = {
        "真偽値": "ブール値",
        "注意を向けてよい": "参照する",
        "一つ抜き法": "一つ抜き交差検証",
        "사영": "투영",
        "주의를 두|주의를 둡": "주의를 기울이다",
        "덧셈 어텐션": "가산 어텐션",
        "하나 빼기": "단일 관측값 제거",
    }
    glossary = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    assert all(word in glossary for word in instead.values())
    files = [*ROOT.glob("README.*.md"), *(ROOT / "docs" / "tutorials").glob("*.py")]
    found = [
        f"{path.name}: write {better} in place of {words}"
        for path in files
        for words, better in instead.items()
        if re.search(words, path.read_text("utf-8"))
    ]
    assert len(files) > 5 and not found, "\n".join(found)

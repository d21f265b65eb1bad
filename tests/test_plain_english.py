"""Words of code and documentation are those that people search for."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("keras_attn", "benchmarks", "docs", "examples", "tests")
# Paraphrases, old words and vague ones, and what to write instead.
INSTEAD = {
    "anew": "again",
    "by heart": "overfitting",
    "dearer": "more expensive",
    "as above": "name what is meant",
    "this hour": "name the run",
    "so many": "name the number",
    "said EOS": "finished",
    "of old": "earlier",
    "thereof": "of it",
    "whilst": "while",
    "hitherto": "until now",
}
TRANSLATED = ("docs/tutorials/ja", "docs/tutorials/ko")


def written():
    """Files with English text, by their path from the root."""
    files = [*ROOT.glob("*.md"), *ROOT.glob("*.py")]
    for folder in FOLDERS:
        for end in ("py", "md", "js", "html"):
            files += (ROOT / folder).rglob(f"*.{end}")
    names = {path.relative_to(ROOT).as_posix(): path for path in files}
    return {name: path for name, path in names.items() if not name.startswith(TRANSLATED)}


def test_vague_words_are_not_used():
    pattern = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)
    instead = {words.lower(): better for words, better in INSTEAD.items()}
    files = written()
    assert len(files) > 500
    found = [
        f"{name}:{number}: write {instead[match[0].lower()]!r} in: {line.strip()}"
        for name, path in files.items()
        if path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if (match := pattern.search(line))
    ]
    assert not found, "\n".join(found)

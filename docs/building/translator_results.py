"""Store what a trained translator and its server answer, for tutorial 6 and the pictures.

    python docs/building/translator_results.py saved_models/ja-en http://127.0.0.1:8501

The sentences are written for this project; no sentence of a corpus is stored. The server must serve
the same folder. The file is `keras_attn/plots/translator.json`.
"""

from __future__ import annotations

import argparse
import json
import urllib.request
from pathlib import Path
from typing import Any

from keras_attn.translation import Translator
from keras_attn.translation.versions import newest_version

FILE = Path(__file__).parents[2] / "keras_attn" / "plots" / "translator.json"
SENTENCES = (
    "昨日、公園で犬を見ました。",
    "すみません、駅はどこですか。",
    "会議は10月28日の午後3時半に始まります。",
    "詳しくは https://example.com/a?b=1 をご覧ください。",
    "雨が降りそうだから、傘を持って行きなさい。",
    "彼女は三年前からここに住んでいる。",
)
GLOSSARY = {"木村": "Kimura"}


def results(model: Path, server: str) -> dict[str, Any]:
    """Answers of an exported model and of the server at the address `server`."""
    report = json.loads((newest_version(model) / "report.json").read_text(encoding="utf-8"))
    translator = Translator.load(model)
    attention = translator.attend(SENTENCES[0])
    body = json.dumps({"instances": SENTENCES[:2]}).encode()
    with urllib.request.urlopen(f"{server}/v1/models/{model.name}:predict", body) as response:
        reply = response.read().decode()
    return {
        "configuration": report["details"]["configuration"],
        "training": report["details"]["training"],
        "corpora": [
            {key: corpus[key] for key in ("name", "num_sentences", "scores", "exactness")}
            for corpus in report["by_corpus"]
        ],
        "by_length": report["by_length"],
        "translations": dict(zip(SENTENCES, translator(list(SENTENCES)), strict=True)),
        "glossary": translator(["木村さんに会いました。"], glossary=GLOSSARY)[0],
        "nbest": [[h.translation, round(h.score, 3)] for h in translator.nbest([SENTENCES[4]])[0]],
        "attention": {
            "text": SENTENCES[0],
            "translation": attention.translation,
            "source_pieces": list(attention.source_pieces),
            "target_pieces": list(attention.target_pieces),
            "weights": attention.weights.round(3).tolist(),
        },
        "reply": reply,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="folder of all versions")
    parser.add_argument("server", help="address of a server of this folder")
    arguments = parser.parse_args()
    stored = results(arguments.model, arguments.server)
    FILE.write_text(json.dumps(stored, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

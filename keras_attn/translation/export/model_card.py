"""Model card of an exported version: description, scores and use."""

from __future__ import annotations

import json
from pathlib import Path

from keras_attn.translation.config import AND, Config
from keras_attn.translation.evaluation.report import Report, escape
from keras_attn.translation.export import examples
from keras_attn.translation.versions import EXTRA

FILE = "README.md"

_USE = """\
## Use

```python
import tensorflow as tf

model = tf.saved_model.load("{version}")
model.signatures["serving_default"](text=tf.constant(["..."]))["translation"]
```

| signature | inputs | outputs |
|---|---|---|
| `serving_default` | `text (B,)` | `translation (B,)` |
| `glossary` | `text (B,)`, `term (G,)`, `term_translation (G,)` | `translation (B,)` |
| `nbest` | `text (B,)` | `translations (B, {beam_size})`, `scores (B, {beam_size})`, best first; \
`is_uncertain (B,)` |
| `score` | `text (B,)`, `translation (B,)` | `log_probability (B,)` |
| `sample` | `text (B,)`, `seed`, `temperature`, `top_k`, `top_p` | `translation (B,)` |
| `attend` | `text (B,)` | `translation (B,)`, `source_pieces (B, S)`, `target_pieces (B, T)`, \
`weights (B, layers, H, T, S)` |

Scores are log probabilities divided by `{penalty}`. `serving_default`, `glossary` and `nbest`
translate each sentence by itself and keep line breaks; the other signatures truncate text to
{limit} pieces. Text without a letter of the source language is returned as given.
"""


def write(folder: Path, config: Config, report: Report) -> None:
    """Write the model card of a version.

    Args:
        folder: Folder of the exported version.
        config: Configuration of the model.
        report: Evaluation of the model.
    """
    training = report.details.get("training", {})
    corpus = report.details.get("corpus", {})
    data = AND.join(Path(name).name for name in config.data.split(AND))  # file names only
    lines = [
        f"# Translator from {escape(config.source)} to {escape(config.target)}",
        "",
        f"A Transformer of {config.num_encoder_layers} encoder and {config.num_decoder_layers} "
        f"decoder layers of width {config.num_hiddens}, {training.get('parameters', 0):,} "
        f"parameters, trained {training.get('epochs', 0):.1f} epochs on "
        f"{corpus.get('train', 0) * corpus.get('parts', 1):,} sentence pairs of `{data}`. It was "
        "trained to translate sentences; its translations can be wrong.",
        "",
        *([escape(report.details["credit"]), ""] if report.details.get("credit") else []),
        "## Scores",
        "",
        *(f"- {escape(line)}" for line in report.headline()),
        "",
        *_examples(folder),
        _use(folder, config),
    ]
    (folder / FILE).write_text("\n".join(lines), encoding="utf-8")


def write_imported(folder: Path, config: Config, name: str, licence: str, citation: str) -> None:
    """Write the model card of an imported version.

    Args:
        folder: Folder of the exported version.
        config: Configuration of the model.
        name: Name of the imported model.
        licence: Licence of the imported model; empty if it is unknown.
        citation: Entries of BibTeX; empty if there are none.
    """
    lines = [
        f"# Translator from {escape(config.source)} to {escape(config.target)}",
        "",
        f"The Marian model `{name}` as a SavedModel: a Transformer of "
        f"{config.num_encoder_layers} encoder and {config.num_decoder_layers} decoder layers of "
        f"width {config.num_hiddens}. Its translations can be wrong.",
        "",
        f"Licence of the model: {escape(licence) or 'not stated in its folder'}.",
        "",
        *(["## Citation", "", "```bibtex", citation, "```", ""] if citation else []),
        *_examples(folder),
        _use(folder, config),
    ]
    (folder / FILE).write_text("\n".join(lines), encoding="utf-8")


def _use(folder: Path, config: Config) -> str:
    offset = config.length_penalty_offset
    return _USE.format(
        version=folder.name,
        beam_size=config.beam_size,
        penalty=f"(({offset:g} + pieces) / {offset + 1:g})^{config.length_penalty}",
        limit=config.max_pieces - 1,
    )


def _examples(folder: Path) -> list[str]:
    """Table of the example sentences of a version; nothing if it has none."""
    path = folder / EXTRA / examples.FILE
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    if not rows:
        return []
    cells = [f"| {escape(row['source'])} | {escape(row['translation'])} |" for row in rows]
    return ["## Examples", "", "| text | translation |", "|---|---|", *cells, ""]

"""Model card of an exported version, in the form of model hubs: front matter, then Markdown."""

import json
from pathlib import Path

from keras_attn.translation.config import AND, Config
from keras_attn.translation.corpus.sources import rights
from keras_attn.translation.evaluation.markdown import (
    CORPUS,
    escape,
    readable,
    score_lines,
    section,
    table,
)
from keras_attn.translation.evaluation.report import Report
from keras_attn.translation.export import examples
from keras_attn.translation.versions import EXTRA

FILE = "README.md"
NUM_WORST = 5

# Licences of corpora as model hubs name them; a model has the first that one of its corpora has.
LICENCES = ("other", "cc-by-sa-4.0", "cc-by-sa-3.0", "cc-by-2.0", "apache-2.0")

_INTENDED_USE = """\
## Intended use and limits

- Meant for single sentences and short texts like those of the corpus, for learning and experiments.
- Not meant for decisions about health, law, money or safety, and not to be published unread: a
  translation may be fluent and wrong, and may leave out a negation, a name or a number.
- Text that is unlike the corpus is translated worse, or into sentences of the corpus. The scores
  below are for sentences of the corpus that training did not use.
- The model repeats what its corpus says about people, for example who has which profession."""

_USE = """\
## Use

From the shell (`pip install ".[serving]"` in a clone of keras_attn):

    keras-attn translate {folder} TEXT
    keras-attn serve {folder}

The server has a web page at http://127.0.0.1:8501/ and the REST API of TensorFlow Serving, which
can serve the same folder. In Python, with TensorFlow alone:

```python
import tensorflow as tf

model = tf.saved_model.load("{folder}/{version}")
model.signatures["serving_default"](text=tf.constant(["..."]))["translation"]
```

| signature | inputs | outputs |
|---|---|---|
| `serving_default` | `text (B,)` | `translation (B,)` |
| `glossary` | `text (B,)`, `term (G,)`, `term_translation (G,)` | `translation (B,)` |
| `nbest` | `text (B,)` | `translations (B, {beam_size})`, `scores (B, {beam_size})`, best first; \
`is_uncertain (B,)`, `is_other_language (B,)` |
| `score` | `text (B,)`, `translation (B,)` | `log_probability (B,)` |
| `sample` | `text (B,)`, `seed`, `temperature`, `top_k`, `top_p` | `translation (B,)` |
| `attend` | `text (B,)` | `translation (B,)`, `source_pieces (B, S)`, `target_pieces (B, T)`, \
`weights (B, layers, H, T, S)`, `encoder_weights (B, layers, H, S, S)`, \
`decoder_weights (B, layers, H, T, T)`, `probabilities (B, T)`, `alternatives (B, T, 5)`, \
`alternative_probabilities (B, T, 5)` |
| `continue` | `text (B,)`, `prefix_pieces (B, P)` | those of `attend`, for the best translation \
that begins with the pieces |
| `head` | `text (B,)`, `target_pieces (B, T)`, `layer (B,)`, `head (B,)` | `queries (B, T, K)`, \
`keys (B, S, K)`, `values (B, S, K)` of cross-attention |

Scores are log probabilities divided by `{penalty}`. `serving_default`, `glossary` and `nbest`
translate each sentence by itself and keep line breaks; the other signatures truncate text to
{limit} pieces. Text without a letter of the source language is returned as given.
`is_uncertain` marks texts of whose translation the model is not sure. `is_other_language` marks
texts with words, but without a letter of the source language; they have one hypothesis, and the
other scores are `-inf`."""


def write(folder: Path, config: Config, report: Report) -> None:
    """Write the model card of the version in a folder."""
    credit = report.details.get("credit")
    _write(
        folder,
        *_front_matter(config, report),
        "",
        _title(config),
        "",
        _description(config, report),
        "",
        _INTENDED_USE,
        "",
        "## Scores",
        "",
        *score_lines(report),
        *_good_examples(folder),
        *_bad_examples(report),
        "",
        _use(folder, config),
        *section("Training", ("what", "value"), _training(config, report)),
        "",
        "## Licence",
        "",
        _licence(config),
        *([escape(credit)] if credit else []),
    )


def write_imported(folder: Path, config: Config, name: str, licence: str, citation: str) -> None:
    """Write the model card of the imported version in a folder; see `Origin`."""
    _write(
        folder,
        _title(config),
        "",
        f"The Marian model `{name}` as a SavedModel: a Transformer of "
        f"{config.num_encoder_layers} encoder and {config.num_decoder_layers} decoder layers of "
        f"width {config.num_hiddens}. Its translations can be wrong.",
        "",
        f"Licence of the model: {escape(licence) or 'not stated in its folder'}.",
        *(["", "## Citation", "", "```bibtex", citation, "```"] if citation else []),
        *_good_examples(folder),
        "",
        _use(folder, config),
    )


def _write(folder: Path, *lines: str) -> None:
    (folder / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _title(config: Config) -> str:
    return f"# Translator from {escape(config.source)} to {escape(config.target)}"


def _corpus_names(config: Config) -> list[str]:
    """Names of the corpora, files without folders."""
    return [Path(name).name for name in config.data.split(AND)]


def _licence_id(config: Config) -> str:
    """Identifier on model hubs of the strictest licence; `other` for corpora of unknown licence."""
    names = [name.partition("=")[0] for name in _corpus_names(config)]
    found = {rights(name)[0] for name in names}
    return next(one for one in LICENCES if one in found)


def _licence(config: Config) -> str:
    if (licence := _licence_id(config)) != "other":
        return f"`{licence}`, by the licences of the corpora."
    return "As the licence of the corpus allows, which is not known here."


def _front_matter(config: Config, report: Report) -> list[str]:
    """YAML of the metadata. JSON strings are strings of YAML too."""
    name = json.dumps(f"{config.source}-{config.target}")
    corpora = json.dumps(f"test split of {AND.join(_corpus_names(config))}", ensure_ascii=False)
    scores = {"bleu": report.scores.bleu, "chrf": report.scores.chrf, "ter": report.scores.ter}
    return [
        "---",
        f"language: {json.dumps([config.source, config.target])}",
        f"license: {_licence_id(config)}",
        "library_name: keras_attn",
        "pipeline_tag: translation",
        "tags: [translation, tensorflow, keras, transformer]",
        f"metrics: [{', '.join(scores)}]",
        "model-index:",
        f"- name: {name}",
        "  results:",
        "  - task: {type: translation}",
        f"    dataset: {{type: {name}, name: {corpora}}}",
        "    metrics:",
        *(f"    - {{type: {metric}, value: {value:.1f}}}" for metric, value in scores.items()),
        "---",
    ]


def _description(config: Config, report: Report) -> str:
    training, corpus = (report.details.get(part, {}) for part in ("training", "corpus"))
    return (
        f"A Transformer of {config.num_encoder_layers} encoder and {config.num_decoder_layers} "
        f"decoder layers of width {config.num_hiddens}, {training.get('parameters', 0):,} "
        f"parameters, trained {training.get('epochs', 0):.1f} epochs on "
        f"{corpus.get('train', 0) * corpus.get('parts', 1):,} sentence pairs of "
        f"`{AND.join(_corpus_names(config))}`. Strings go in, strings come out."
    )


def _good_examples(folder: Path) -> list[str]:
    """Table of the example sentences of a version; nothing if it has none."""
    rows = [tuple(example) for example in examples.read(folder / EXTRA)]
    return section("Good examples", ("text", "translation"), rows)


def _bad_examples(report: Report) -> list[str]:
    """Table of the worst translations of the test set; nothing if there are none."""
    if not report.worst:
        return []
    lead = "The worst translations of the test set, by chrF:"
    rows = table(("text", "translation", "reference"), report.worst[:NUM_WORST])
    return ["", "## Bad examples", "", lead, "", *rows]


def _use(folder: Path, config: Config) -> str:
    offset = config.length_penalty_offset
    return _USE.format(
        folder=folder.parent.name or ".",
        version=folder.name,
        beam_size=config.beam_size,
        penalty=f"(({offset:g} + pieces) / {offset + 1:g})^{config.length_penalty}",
        limit=config.max_length - 1,
    )


def _training(config: Config, report: Report) -> list[tuple[str, str]]:
    details = report.details
    training, corpus = details.get("training", {}), details.get("corpus", {})
    rows = {
        "date": details.get("date"),
        "hardware": details.get("machine"),
        "precision": config.precision,
        "minutes": f"{training['seconds'] / 60:.1f}" if "seconds" in training else None,
        "versions": ", ".join(f"{k} {v}" for k, v in details.get("versions", {}).items()),
    }
    rows |= {CORPUS[name]: readable(name, value) for name, value in corpus.items() if value}
    return [(name, str(value)) for name, value in rows.items() if value]

"""Model card of an exported version, in the form of model hubs: front matter, then Markdown."""

import json
from pathlib import Path

from keras_attn.translation.config import AND, Config
from keras_attn.translation.corpus.sources import rights
from keras_attn.translation.evaluation.markdown import escape, score_lines, section, spelled_out
from keras_attn.translation.evaluation.report import Report
from keras_attn.translation.export import examples
from keras_attn.translation.versions import EXTRA, LEXICON

FILE = "README.md"
NUM_WORST = 5
METRICS = ("bleu", "chrf", "ter")

# Licences of corpora as model hubs name them; a model has the first that one of its corpora has.
LICENCES = ("other", "cc-by-sa-4.0", "cc-by-sa-3.0", "cc-by-2.0", "apache-2.0")

_INTENDED_USE, _USE = (
    Path(__file__).with_name(f"model_card_{name}.md").read_text(encoding="utf-8").strip()
    for name in ("intended_use", "use")
)


def write(folder: Path, config: Config, report: Report) -> None:
    """Write the model card of the version in a folder."""
    corpora = [Path(name).name for name in config.data.split(AND)]  # without folders
    licences = {rights(name.partition("=")[0])[0] for name in corpora}
    licence = next(one for one in LICENCES if one in licences)
    credit = report.details.get("credit")
    _write(
        folder,
        *_front_matter(config, report, AND.join(corpora), licence),
        "",
        _title(config),
        "",
        _description(config, report, AND.join(corpora)),
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
        "As the licence of the corpus allows, which is not known here."
        if licence == "other"
        else f"`{licence}`, by the licences of the corpora.",
        *([escape(credit)] if credit else []),
    )


def write_imported(folder: Path, config: Config, name: str, licence: str, citation: str) -> None:
    """Write the model card of the imported version in a folder; see `Origin`."""
    _write(
        folder,
        _title(config),
        "",
        f"The Marian model `{name}` as a SavedModel: a Transformer of {_sizes(config)}. "
        "Its translations can be wrong.",
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


def _sizes(config: Config) -> str:
    return (
        f"{config.num_encoder_layers} encoder and {config.num_decoder_layers} decoder layers of "
        f"width {config.num_hiddens}"
    )


def _front_matter(config: Config, report: Report, corpora: str, licence: str) -> list[str]:
    """Metadata as YAML, whose values are JSON."""
    name = f"{config.source}-{config.target}"
    scores = {metric: round(getattr(report.scores, metric), 1) for metric in METRICS}
    result = {
        "task": {"type": "translation"},
        "dataset": {"type": name, "name": f"test split of {corpora}"},
        "metrics": [{"type": metric, "value": value} for metric, value in scores.items()],
    }
    metadata = {
        "language": [config.source, config.target],
        "license": licence,
        "library_name": "keras_attn",
        "pipeline_tag": "translation",
        "tags": ["translation", "tensorflow", "keras", "transformer"],
        "metrics": METRICS,
        "model-index": [{"name": name, "results": [result]}],
    }
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in metadata.items())
    return ["---", *lines, "---"]


def _description(config: Config, report: Report, corpora: str) -> str:
    training, corpus = (report.details.get(part, {}) for part in ("training", "corpus"))
    return (
        f"A Transformer of {_sizes(config)}, {training.get('parameters', 0):,} parameters, trained "
        f"{training.get('epochs', 0):.1f} epochs on "
        f"{corpus.get('train', 0) * corpus.get('parts', 1):,} sentence pairs of `{corpora}`. "
        "Strings go in, strings come out."
    )


def _good_examples(folder: Path) -> list[str]:
    """Table of the example sentences of a version; nothing if it has none."""
    return section("Good examples", ("text", "translation"), examples.read(folder / EXTRA))


def _bad_examples(report: Report) -> list[str]:
    """Table of the worst translations of the test set; nothing if there are none."""
    header = ("text", "translation", "reference")
    lines = section("Bad examples", header, report.worst[:NUM_WORST])
    return lines and [*lines[:3], "The worst translations of the test set, by chrF:", *lines[2:]]


def _use(folder: Path, config: Config) -> str:
    offset = config.length_penalty_offset
    coverage = f", plus {config.coverage_weight:g} times the coverage of the source"
    return _USE.format(
        folder=folder.parent.name or ".",
        version=folder.name,
        beam_size=config.beam_size,
        penalty=f"(({offset:g} + pieces) / {offset + 1:g})^{config.length_penalty}",
        coverage=coverage if (folder / EXTRA / LEXICON).is_file() else "",
        limit=config.max_length - 1,
    )


def _training(config: Config, report: Report) -> list[tuple[str, str]]:
    details = report.details
    training = details.get("training", {})
    rows = {
        "date": details.get("date"),
        "hardware": details.get("machine"),
        "precision": config.precision,
        "minutes": f"{training['seconds'] / 60:.1f}" if "seconds" in training else None,
        "versions": ", ".join(f"{k} {v}" for k, v in details.get("versions", {}).items()),
    }
    facts = [(name, value) for name, value in rows.items() if value]
    return facts + spelled_out("corpus", details.get("corpus", {}))

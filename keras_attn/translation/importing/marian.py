"""Import of Marian models, such as those of OPUS-MT."""

import warnings
from pathlib import Path

from keras_attn.translation import named_weights
from keras_attn.translation.evaluation import model_card
from keras_attn.translation.export import saved_model
from keras_attn.translation.export.translator import Translator
from keras_attn.translation.importing import configuration, folder, npz, origin, vocabulary, weights
from keras_attn.translation.importing.configuration import MarianConfig
from keras_attn.translation.model import make_model
from keras_attn.translation.special_ids import EOS_ID, PAD_ID, UNK_ID
from keras_attn.translation.tokenization import language_tokens
from keras_attn.translation.tokenization.tokenizer import Tokenizers


def import_marian(
    path: Path,
    out: Path,
    source: str = "",
    target: str = "",
    language_token: str = "",
    serving_precision: str = "float32",
) -> Translator:
    """Write a Marian model as the next version of a translator, in the folder `out`.

    `path` is a folder as transformers writes it (`folder.read`), or as Marian and OPUS-MT do
    (`npz.read`), with `source.spm` and `target.spm`. The languages may be stated in the folder.
    """
    has_own_form = (path / npz.DECODER).is_file() and not (path / folder.CONFIG).is_file()
    files = npz.read(path) if has_own_form else folder.read(path)
    marian = MarianConfig(files.config, files.generation)
    sides = [
        vocabulary.convert(folder.read_bytes(path, model), ids, files.special, name)
        for model, ids, name in zip(
            (folder.SOURCE_MODEL, folder.TARGET_MODEL), files.vocabularies, files.names, strict=True
        )
    ]
    for entry, row in {"pad_token_id": PAD_ID, "eos_token_id": EOS_ID}.items():
        if marian[entry] != (number := int(sides[1].rows[row])):
            raise ValueError(
                f"`{entry}` of `config.json` must be the id in the vocabulary, {number}. "
                f"Received: {entry}={marian[entry]!r}."
            )
    tokenizers = Tokenizers(*(side.tokenizer for side in sides))
    _check_language_token(language_token, tokenizers)
    source, target = source or files.source, target or files.target
    if not source or not target:
        raise ValueError(
            f"`source` and `target` must be given, because `{path}` does not state the languages. "
            f"Received: source={source!r}, target={target!r}."
        )
    config = configuration.to_config(
        marian,
        int(sides[1].rows[UNK_ID]),
        source=source,
        target=target,
        language_token=language_token,
        serving_precision=serving_precision,
    )
    config.validate()
    values = weights.convert(files.weights, marian, *(side.rows for side in sides))
    model = make_model(tokenizers.source.vocab_size, tokenizers.target.vocab_size, config)
    named_weights.assign(model.weights, values)
    translator = saved_model.export(model, tokenizers, config, out)
    found = origin.of_folder(path, marian.get("_name_or_path") or "")
    origin.keep(found, path, translator.folder)
    model_card.write_imported(translator.folder, config, *found)
    return translator


def _check_language_token(language_token: str, tokenizers: Tokenizers) -> None:
    languages = language_tokens.among(tokenizers.source.pieces)
    if language_token and language_token not in languages:
        raise ValueError(
            "`language_token` must be one of the tokens of the model: "
            f"{', '.join(languages) or 'it has none'}. Received: "
            f"language_token={language_token!r}."
        )
    if languages and not language_token:
        warnings.warn(
            "The model has several target languages. Give one as the language token, or begin each "
            f"text with one of: {', '.join(languages)}.",
            stacklevel=3,
        )

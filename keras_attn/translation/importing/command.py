"""The command that imports a Marian model."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from keras_attn.command_line import form
from keras_attn.translation.config import PRECISIONS


def add(commands: Any, prog: str) -> None:
    """Add the command `import-marian`; `prog` is the start of the command line."""
    parser = commands.add_parser(
        "import-marian",
        help="convert a Marian model, such as one of OPUS-MT, to a SavedModel",
        **form(
            "Writes a Marian model, in a folder of its files for transformers or of Marian's own "
            "files, as the next version of a translator. PyTorch is needed only for weights in "
            "pytorch_model.bin.",
            f"{prog} import-marian opus-mt-ja-en saved_models/opus-ja-en",
        ),
    )
    parser.add_argument(
        "folder", type=Path, metavar="MARIAN", help="folder with config.json or decoder.yml"
    )
    parser.add_argument("out", type=Path, metavar="FOLDER", help="folder of all versions")
    for side in ("source", "target"):
        parser.add_argument(
            f"--{side}",
            default="",
            metavar="LANGUAGE",
            help=f"language code of the {side} text (default: as in the folder)",
        )
    parser.add_argument(
        "--language-token",
        default="",
        metavar="TOKEN",
        help="token such as '>>por<<' that a model with several target languages reads before a "
        "text without one (default: none)",
    )
    parser.add_argument(
        "--serving-precision",
        default="float32",
        choices=PRECISIONS,
        help="precision of the exported model; bfloat16 is half the size and changes some "
        "translations (default: float32)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Import a model, and print its folder."""
    from keras_attn.translation.importing import marian

    translator = marian.import_marian(
        arguments.folder,
        arguments.out,
        arguments.source,
        arguments.target,
        arguments.language_token,
        arguments.serving_precision,
    )
    print(f"The model is in {translator.folder}.")

"""Flags of `train.py`, made from the fields of `Config`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from keras_attn.command_line import add_version, form
from keras_attn.translation.config import RENAMED, Config

# Names of values that have none of their own.
_METAVARS = {int: "NUMBER", float: "NUMBER", str: "TEXT"}
# Options that `--help` lists; `--help-all` lists the others too.
COMMON = (
    *("data", "hold_out", "source", "target", "start_from", "out", "minutes", "steps", "seed"),
    *("num_encoder_layers", "num_decoder_layers", "num_hiddens", "ffn_num_hiddens", "num_heads"),
    *("position", "dropout", "vocab_size", "batch_tokens", "precision", "beam_size"),
)


def make_parser(prog: str = "train.py", shows_all: bool = False) -> argparse.ArgumentParser:
    """Parser with a flag for each field of `Config`, and those of folders and devices.

    Args:
        prog: Start of the command line, for the help. Defaults to `"train.py"`.
        shows_all: Whether its help shows all flags, or those that are `COMMON`.

    Example:

    >>> make_parser().parse_args(["--num-heads", "8", "--shared-vocab"])
    Namespace(num_heads=8, shared_vocab=True)
    """
    command = f"python {prog}" if prog.endswith(".py") else prog
    purpose = form(
        "Trains a translator on a corpus, exports it as a SavedModel and scores the exported "
        "model. To resume an interrupted training, give the same command again.",
        command,
        f"{command} --data tatoeba --minutes 60",
        f"{command} --data my_sentences.tsv --source en --target ja",
        f'{command} --data "tatoeba + my_sentences.tsv=3" --out saved_models/mine',
        f"{command} --data my_sentences.tsv --start-from saved_models/ja-en "
        "--out saved_models/mine",
    )
    parser = argparse.ArgumentParser(
        prog,
        usage="%(prog)s [--data CORPUS] [--minutes MINUTES] [other options]",
        argument_default=argparse.SUPPRESS,
        **purpose,
    )
    add_version(parser)
    parser.add_argument(
        "--help-all", action=_help_all(prog), nargs=0, help="show all options and exit"
    )
    _add_folders_and_devices(parser)
    groups: dict[str, argparse._ArgumentGroup] = {}
    for field in dataclasses.fields(Config):
        heading = field.metadata["group"]
        if heading not in groups:
            groups[heading] = parser.add_argument_group(heading)
        flag = f"--{field.name.replace('_', '-')}"
        groups[heading].add_argument(flag, help=_help(field), **_kind(field))
    for old, new in RENAMED.items():
        kind = type(getattr(Config, new))
        if kind is not bool:  # these are for imported models
            flag = f"--{old.replace('_', '-')}"
            parser.add_argument(flag, dest=new, type=kind, action=_Renamed, help=argparse.SUPPRESS)
    for action in parser._actions:
        if not shows_all and action.dest not in (*COMMON, "help", "help_all", "version"):
            action.help = argparse.SUPPRESS
    return parser


def _add_folders_and_devices(parser: argparse.ArgumentParser) -> None:
    files = parser.add_argument_group("folders")
    files.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="folder of the model's versions (default: saved_models/SOURCE-TARGET)",
    )
    files.add_argument(
        "--tensorboard",
        type=Path,
        metavar="FOLDER",
        help="folder of curves for TensorBoard (default: no curves)",
    )
    devices = parser.add_argument_group("devices")
    devices.add_argument(
        "--model-devices",
        type=int,
        metavar="DEVICES",
        help="on JAX, number of accelerators that hold the weights together, for a model too wide "
        "for one; the others share the batch (default: 1)",
    )


def _help_all(prog: str) -> type[argparse.Action]:
    """Action that prints the help with all flags."""

    class HelpAll(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            make_parser(prog, shows_all=True).print_help()
            parser.exit()

    return HelpAll


class _Renamed(argparse.Action):
    """Action of a flag that now has another name."""

    def __call__(self, parser, namespace, values, option_string=None):
        new = f"--{self.dest.replace('_', '-')}"
        print(f"warning: {option_string} is now called {new}.", file=sys.stderr)
        setattr(namespace, self.dest, values)


def _kind(field: dataclasses.Field) -> dict[str, Any]:
    if isinstance(field.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    if field.metadata["choices"]:
        return {"choices": field.metadata["choices"]}
    metavar = field.metadata["metavar"] or _METAVARS[type(field.default)]
    if separator := field.metadata["separator"]:
        return {"action": _joining(separator), "metavar": metavar}
    return {"type": type(field.default), "metavar": metavar}


def _joining(separator: str) -> type[argparse.Action]:
    """Action of a flag that may be given several times: joins the values to one string."""

    class Join(argparse.Action):
        def __call__(self, parser, namespace, values, option_string=None):
            earlier = getattr(namespace, self.dest, None)
            setattr(namespace, self.dest, f"{earlier}{separator}{values}" if earlier else values)

    return Join


def _help(field: dataclasses.Field) -> str:
    """Help text with range and default."""
    default = "no" if field.default is False else field.default
    default_text = f"default: {field.metadata['default_text'] or default}"
    details = "; ".join(filter(None, [field.metadata["range"], default_text]))
    return f"{field.metadata['help']} ({details})".replace("%", "%%")

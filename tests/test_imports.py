"""Import directions inside the layers and the translator, read from the source."""

import ast
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import keras_attn

ROOT = Path(keras_attn.__file__).parents[1]
TRANSLATION, LAYERS, TRAINING = (
    f"keras_attn.{name}" for name in ("translation", "layers", "training")
)
# From the ground up; a room imports from lower floors and, without a circle, from its own.
FLOORS = {
    LAYERS: [
        "checks precision offsets products layer dense dropout lora from_keras sharding",
        "masks softmax normalization cache",
        "positions relative_positions rotary",
        "dot_product blocks attend scoring gaussian",
        "multi_head embedding feed_forward residual",
        "stack encoder decoder_block decoder transformer __init__",
    ],
    TRAINING: [
        "jax_backend backend",
        "adam loss cross_entropy head",
        "muon model_loss",
        "sharding",
        "sharded_step",
        "step",
        "__init__",
    ],
    TRANSLATION: [
        "special_ids config presets versions named_weights lexicon runtime text",
        "corpus tokenization decoding",
        "model",
        "batching export",
        "evaluation",
        "training importing",
        "train",
        "line_filter remarks commands __init__ __main__",
    ],
}


def imports_of(path):
    """All that a file imports, also inside functions: for `from a import b` both `a` and `a.b`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"a relative import in {path}"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(name, package=TRANSLATION):
    """`decoding` for `keras_attn.translation.decoding.search`, None outside the package."""
    if not name.startswith(f"{package}."):
        return None
    return name.removeprefix(f"{package}.").split(".")[0]


IMPORTS = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): set(imports_of(path))
    for path in sorted((ROOT / "keras_attn").rglob("*.py"))
}


@pytest.mark.parametrize("package", FLOORS)
def test_every_room_has_a_floor_and_imports_no_higher_one_and_none_in_a_circle(package):
    modules = {name: found for name, found in IMPORTS.items() if room_of(name, package)}
    floors = {room: i for i, rooms in enumerate(FLOORS[package]) for room in rooms.split()}
    assert {room_of(name, package) for name in modules} == set(floors)
    faults = [
        f"{name} imports {found}"
        for name, imported in modules.items()
        for found in sorted(imported)
        if floors.get(room_of(found, package), 0) > floors[room_of(name, package)]
    ]
    assert not faults, "\n".join(faults)
    among = {name: found & set(modules) for name, found in modules.items()}
    rooms = {}
    for name, found in among.items():
        room = room_of(name, package)
        rooms.setdefault(room, set()).update({room_of(x, package) for x in found} - {room})
    for graph in (among, rooms):
        list(TopologicalSorter(graph).static_order())  # raises CycleError


def test_layers_know_nothing_of_training_and_training_of_the_translator_only_its_computer():
    faults = [
        f"{name} imports {found}"
        for name, imported in IMPORTS.items()
        for found in imported
        if (room_of(name, LAYERS) and f"{found}.".startswith(f"{TRAINING}."))
        or (room_of(name, TRAINING) and room_of(found) not in (None, "runtime"))
    ]
    assert not faults, "\n".join(faults)


def reached_from(name):
    """All modules that `name` imports, and those that they import."""
    seen, left = set(), [name]
    while left:
        module = left.pop()
        if module not in seen:
            seen.add(module)
            left += IMPORTS.get(module, ())
    return seen


def test_flags_need_the_standard_library_only():
    allowed = {"__future__", "keras_attn", *sys.stdlib_module_names}
    for name in ("keras_attn.options", "keras_attn.cli", f"{TRANSLATION}.config"):
        assert {found.split(".")[0] for found in IMPORTS[name]} <= allowed, name
    assert not any(found.startswith("keras_attn") for found in IMPORTS["keras_attn.options"])


def test_integers_do_without_sentencepiece_and_the_server_without_the_trainer():
    integers = [name for name in IMPORTS if room_of(name) in ("special_ids", "decoding")]
    server = [name for name in IMPORTS if name.startswith("keras_attn.serving")]
    assert integers and server
    faults = [
        f"{name} imports {found}"
        for names, foreign in ((integers, "sentencepiece"), (server, f"{TRANSLATION}.training"))
        for name in names
        for found in reached_from(name)
        if f"{found}.".startswith(f"{foreign}.")
    ]
    assert not faults, "\n".join(faults)

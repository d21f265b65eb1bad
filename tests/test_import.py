import os
import subprocess
import sys

from quickest_backend import QUICKEST_BACKEND


def test_the_layers_do_not_bring_the_libraries_of_translator_and_pictures():
    # Keras itself imports matplotlib where it is installed; the layers must not.
    code = (
        "import sys, keras\n"
        "of_keras = set(sys.modules)\n"
        "import keras_attn\n"
        "print([m for m in ('tensorflow_datasets', 'sentencepiece', 'matplotlib', 'sacrebleu',"
        " 'keras_attn.translation', 'keras_attn.heat_maps')"
        " if m in sys.modules and m not in of_keras])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": QUICKEST_BACKEND},
    )
    assert result.stdout.strip() == "[]", result.stderr


def test_the_layers_name_no_backend():
    import ast
    from pathlib import Path

    import keras_attn

    folder = Path(keras_attn.__file__).parent
    # The commands are those of translator and server.
    for path in {*folder.glob("*.py")} - {folder / "__main__.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] not in ("tensorflow", "jax", "torch"), path
                assert not name.startswith("keras_attn.translation"), path


def test_every_folder_with_source_is_installed():
    import configparser
    from pathlib import Path

    root = Path(__file__).parents[1]
    setup = configparser.ConfigParser()
    setup.read(root / "setup.cfg")
    found = set()
    for name, folder in (("keras_attn", "keras_attn"), ("keras_attn_data", "data")):
        for path in (root / folder).rglob("*.py"):
            found.add(".".join([name, *path.parent.relative_to(root / folder).parts]))
    assert set(setup["options"]["packages"].split()) == found

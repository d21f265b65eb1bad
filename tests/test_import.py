import subprocess
import sys


def test_the_layers_do_not_bring_the_translators_libraries():
    code = (
        "import sys, keras_attn\n"
        "print([m for m in ('tensorflow_datasets', 'sentencepiece', 'matplotlib', 'sacrebleu',"
        " 'tensorflow_text', 'keras_attn.translation') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_the_layers_name_no_backend():
    import ast
    from pathlib import Path

    import keras_attn

    for path in Path(keras_attn.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name.split(".")[0] not in ("tensorflow", "jax", "torch"), path
                assert not name.startswith("keras_attn.translation"), path

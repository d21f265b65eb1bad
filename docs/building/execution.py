"""Execution of a tutorial: outputs that are the same on each machine and small enough to store."""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DPI = 160
COLOURS = 128  # of a picture; a palette makes the file three times smaller
SETTINGS = (
    'import os; os.environ["KERAS_BACKEND"] = "tensorflow"\n'
    '%config InlineBackend.figure_formats = ["png"]\n'
    f'%config InlineBackend.print_figure_kwargs = {{"bbox_inches": "tight", "dpi": {DPI}}}'
)


def outputs_of(notebook: dict[str, Any], package: Path = ROOT) -> list[list[dict[str, Any]]]:
    """Outputs of each code cell, run in an empty folder; `package` holds `keras_attn`.

    Raises:
        nbclient.exceptions.CellExecutionError: If a cell raises an error.
        ValueError: If an output holds a path of this machine.
    """
    import nbformat
    from nbclient import NotebookClient

    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    # The kernel imports this code before any that is installed.
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    run = nbformat.from_dict(notebook)
    run["cells"].insert(0, nbformat.v4.new_code_cell(SETTINGS))
    with tempfile.TemporaryDirectory() as empty:
        client = NotebookClient(
            run,
            timeout=1800,
            kernel_name="python3",
            record_timing=False,
            resources={"metadata": {"path": empty}},
        )
        client.execute(stderr=subprocess.DEVNULL)  # TensorFlow's messages
    code_cells = [cell for cell in run["cells"] if cell["cell_type"] == "code"][1:]
    return [_cleaned(cell) for cell in code_cells]


def _cleaned(cell: Any) -> list[dict[str, Any]]:
    """Outputs without what goes to stderr, colours of the terminal and descriptions of pictures."""
    cleaned: list[dict[str, Any]] = []
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            if output["name"] == "stdout":
                text = re.sub(r"\x1b\[[0-9;]*m", "", output["text"])
                if cleaned and "text" in cleaned[-1]:  # printed a moment later
                    cleaned[-1]["text"] += text
                else:
                    cleaned.append({"output_type": "stream", "name": "stdout", "text": text})
            continue
        data = dict(output["data"])
        if "image/png" in data:
            data = {"image/png": _smaller(data["image/png"])}
        elif {"image/svg+xml", "text/html"} & data.keys():
            data.pop("text/plain", None)
        # `display` of several objects in a cell and the value of the cell look the same.
        cleaned.append({"output_type": "display_data", "data": data, "metadata": {}})
    for output in cleaned:
        written = output.get("text", "") + "".join(output.get("data", {}).values())
        for path in (str(ROOT), str(Path.home()), tempfile.gettempdir() + "/"):
            if path in written and path != "/":
                raise ValueError(
                    f"An output must hold no path of this machine. Received: {path} in the output "
                    f"of:\n{cell['source']}"
                )
    return cleaned


def _smaller(png: str) -> str:
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(png))).convert("RGB")
    picture = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return base64.b64encode(file.getvalue()).decode()

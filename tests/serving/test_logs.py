import itertools
import json
import subprocess
import sys

SCRIPT = """
import logging, os
from keras_attn.serving.logs import written_to_stderr
with written_to_stderr():
    logging.getLogger("a.b").info("猫 %d", 3, extra={"rows": 2})
    os.write(2, b"E0000 00:00:1 2 a.cc:3] native\\n")
os.write(2, b"after\\n")
"""


def test_a_line_is_an_object_with_what_was_added_and_native_lines_too():
    said = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, check=True, encoding="utf-8"
    ).stderr.splitlines()
    assert said.pop() == "after"
    # The import of the package comes before.
    said = list(itertools.dropwhile(lambda line: not line.startswith("{"), said))
    line, native = sorted(map(json.loads, said), key=lambda record: record["logger"])
    assert (line["message"], line["rows"], line["level"]) == ("猫 3", 2, "INFO")
    assert line["logger"] == "a.b"
    assert (native["message"], native["level"]) == ("native", "ERROR")
    assert any("猫" in text for text in said)  # readable, not escaped

import json
import logging

import pytest

from keras_attn.serving.logs import write_to_stderr


@pytest.fixture(autouse=True)
def root_logger_as_before():
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    # Taken away first: what is set up anew closes those it finds.
    root.handlers[:] = []
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_is_an_object_with_what_was_added(capsys):
    write_to_stderr()
    logging.getLogger("a.b").info("猫 %d", 3, extra={"rows": 2})
    (line,) = capsys.readouterr().err.splitlines()
    said = json.loads(line)
    assert (said["message"], said["rows"], said["level"]) == ("猫 3", 2, "INFO")
    assert said["logger"] == "a.b"
    assert "猫" in line  # readable, not escaped

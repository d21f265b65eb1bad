import pytest


@pytest.fixture
def write(tmp_path):
    """`write(content, name)`: the path of a file that holds bytes, a text or lines."""

    def write(content, name="own.tsv"):
        if isinstance(content, list):
            content = "\n".join(content)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
        return str(path)

    return write

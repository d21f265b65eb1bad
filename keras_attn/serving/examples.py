"""Example sentences that an exported model brings: sentences that it translates well."""

import json
import logging
from pathlib import Path

from keras_attn.translation.export.examples import FILE, NUM_EXAMPLES
from keras_attn.translation.versions import EXTRA

_log = logging.getLogger(__name__)


def read(version: Path) -> list[str]:
    """Example sentences of a version, at most `NUM_EXAMPLES`.

    A file that cannot be read is logged, because a model without examples can still be served.
    """
    path = version / EXTRA / FILE
    if not path.is_file():
        return []
    try:
        sources = [example["source"] for example in json.loads(path.read_bytes())]
        return [source for source in sources if source.strip()][:NUM_EXAMPLES]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        _log.warning("The examples of a version cannot be read.", extra={"error": repr(error)})
        return []

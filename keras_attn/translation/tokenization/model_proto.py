"""Protocol buffer class of a SentencePiece model."""

from __future__ import annotations

from sentencepiece import sentencepiece_model_pb2

# The class is generated at import time, so mypy does not know it.
ModelProto = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]

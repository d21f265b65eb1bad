"""The protocol buffer of a SentencePiece model."""

from __future__ import annotations

from sentencepiece import sentencepiece_model_pb2

# Made when it is imported, so that nobody who checks types knows it.
ModelProto = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]

"""Tokens: SentencePiece tokenizers, and the same in the graph."""

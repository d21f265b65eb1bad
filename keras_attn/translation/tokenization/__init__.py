"""Tokenization: SentencePiece tokenizers, and the same segmentation in the graph."""

"""Special token ids of every tokenizer and model."""

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
# Ids of the placeholders (`text/placeholders.py`), which imported models do not have.
PLACEHOLDER_IDS = tuple(range(4, 12))

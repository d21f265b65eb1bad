"""Special token ids of every tokenizer and model."""

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3
# Ids of the slots (`text/placeholders.py`). Models that were exported before have them elsewhere.
SLOT_IDS = tuple(range(4, 12))

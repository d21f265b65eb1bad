"""The ids that every tokenizer and model gives to padding, unknown, begin and end."""

PAD_ID, UNK_ID, BOS_ID, EOS_ID = 0, 1, 2, 3

"""This computer: its threads, its precision, its memory."""

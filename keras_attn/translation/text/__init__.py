"""Text, for training and in the graph: characters, sentences, placeholders, noise."""

"""A concordance of sentence pairs: its index, questions to it, and statistics of words."""

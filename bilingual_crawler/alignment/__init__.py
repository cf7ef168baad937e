"""From document pairs to sentence pairs: splitting, aligning, cleaning."""

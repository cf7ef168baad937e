"""From documents to pairs: one module per kind of evidence, and one matcher that combines them."""

"""From documents to pairs: one module an evidence, one matcher that combines them."""

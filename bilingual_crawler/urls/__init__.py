"""URLs: hosts, fingerprints, language tokens, resolved links, traps and credentials."""

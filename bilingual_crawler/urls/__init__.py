"""URLs: hosts, keys, fingerprints, links resolved, and the languages that they announce."""

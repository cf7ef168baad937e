"""From a response to a `Document`: one parse, paragraphs, language, duplicates."""

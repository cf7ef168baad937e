"""Language identifiers other than CLD2, and which of them a site has."""

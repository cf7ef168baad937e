"""The corpus in the formats that other programs read, and the import of TMX; all streaming."""

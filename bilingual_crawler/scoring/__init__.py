"""How promising a link is: URL models, link scorers, and what they learn."""

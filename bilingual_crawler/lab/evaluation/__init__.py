"""How good the URL models are, beside what rules reach without any model."""

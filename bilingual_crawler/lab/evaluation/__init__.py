"""Measure the URL models, beside rules that need no model."""

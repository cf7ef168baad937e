"""How the two URL models are made: data, negatives, fitting, export.

Needs `torch` and `transformers`; nothing that crawls imports this package.
"""

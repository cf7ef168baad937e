"""Training of the models: data, negatives, fitting, export.

It needs `torch` and `transformers`; nothing that crawls imports this package.
"""

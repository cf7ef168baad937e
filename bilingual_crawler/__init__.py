"""Harvest parallel documents from the web, most promising links first."""

__all__ = ["__version__"]

__version__ = "0.1.0"

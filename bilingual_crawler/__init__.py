"""Harvest parallel documents from the web, most promising links first."""

__all__ = ["__version__"]

__version__ = "0.2.0"

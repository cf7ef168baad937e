"""Whole crawls, run as users run them."""

"""Crawls of recorded sites without engine or network, to try out many orders of links."""

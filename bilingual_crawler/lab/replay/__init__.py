"""Recorded sites crawled again, without the network: which order of links finds pairs first."""

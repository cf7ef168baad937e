"""Benchmarks, side by side with other tools where there are any; run `make bench`."""

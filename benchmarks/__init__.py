"""What is measured side by side with peers; run `make bench`."""

"""The pages of the sample site: their prose, their addresses, their traps."""

"""Helpers of the tests: servers, made sites, folders and processes."""

"""The project itself: its documentation, packages, tools and tests."""

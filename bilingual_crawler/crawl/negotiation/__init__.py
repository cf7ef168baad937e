"""Sites that serve one address in several languages: detected, and requested in both."""

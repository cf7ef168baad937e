"""Sites that serve one address in several languages: found out, and asked for both."""

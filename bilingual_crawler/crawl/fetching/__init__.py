"""How to fetch it: politeness, opt-outs, guards against hostile servers."""

"""How promising is a link: scorers, and the spider middleware that asks them."""

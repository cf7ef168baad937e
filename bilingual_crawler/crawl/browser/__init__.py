"""Pages in Chromium: which are rendered, what they may ask for, what is read from them."""

"""Pages in Chromium: which ones are rendered, what they may load, what is read from them."""

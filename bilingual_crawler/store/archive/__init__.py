"""Pages in web archives: captures, their index, and the records that hold them."""

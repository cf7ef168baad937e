"""Documents that are not HTML: PDF, Word, OpenDocument, RTF and EPUB, read in a child process."""

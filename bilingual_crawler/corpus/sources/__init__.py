"""What others fetched, as documents: WARC files, directories, lists, folders of crawls."""

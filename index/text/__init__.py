"""Turn text into search terms: words, stems, chunk headers and path globs."""

"""Cut programs into chunks, one symbol a piece, by their syntax trees."""

"""Open indexes of a server, each with its job, watch and backfill."""

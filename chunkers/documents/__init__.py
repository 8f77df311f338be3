"""Documents, records and tables to chunks."""

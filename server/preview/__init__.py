"""Preview the chunks of one file as text, in the terminal, or on a page."""

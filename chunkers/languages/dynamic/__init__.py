"""Names that Python and Ruby declare by calls and assignments."""

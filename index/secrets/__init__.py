"""Find secrets in texts and file names, and redact them before anything is stored, sent or shown."""

__all__ = ["file_names", "redaction", "tokens"]

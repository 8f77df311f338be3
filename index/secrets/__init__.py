"""Finding secrets in texts and names, and redacting them before anything is stored, sent or shown."""

__all__ = ["file_names", "redaction", "tokens"]

"""`cqm doctor`: check the machine and every configured service."""

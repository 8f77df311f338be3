"""Answers and status as text, JSON and terminal output."""

"""One writer, many clients: a process that owns an index, and what others use it through (promise 7)."""

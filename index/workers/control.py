"""How a parent asks the process that forks its workers."""

import struct

REQUEST = struct.Struct("<Bq")
"""What is wanted, and of which worker; with FORK comes a descriptor, the worker's end of its connection."""
REPLY = struct.Struct("<q")
"""The number of the new worker, or the status with which an old one ended, as `os.waitpid` gives it."""
FORK, END = 1, 2

RESULT, FAILURE, QUESTION = 0, 1, 2
"""What a worker's message is: (RESULT, value), (FAILURE, class, message, remedy, retryable) or (QUESTION, value)."""

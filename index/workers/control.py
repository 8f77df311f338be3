"""How a parent asks the process that forks its workers."""

import struct

REQUEST = struct.Struct("<Bq")
"""What is wanted, and of which worker; with FORK comes a descriptor, the worker's end of its connection."""
REPLY = struct.Struct("<q")
"""The number of the new worker, or the status with which an old one ended, as `os.waitpid` gives it."""
FORK, END, LOAD = 1, 2, 3
"""LOAD: load the rules that find secrets, so that workers forked later have them."""

RESULT, FAILURE, QUESTION, RETIRED = 0, 1, 2, 3
"""What a worker's message is: (RESULT, value), (FAILURE, class, message, remedy, retryable), (QUESTION, value), or
(RETIRED,): it needs the rules that find secrets and waits to be replaced by a worker that has them."""

"""Requests of a parent to the fork server of its workers."""

import struct

REQUEST = struct.Struct("<Bq")
"""Request and worker's number. FORK brings a descriptor: the worker's end of its connection."""
REPLY = struct.Struct("<q")
"""Number of the new worker, or exit status of an ended one, as from `os.waitpid`."""
FORK, END, LOAD = 1, 2, 3
"""LOAD: load the rules that find secrets, so that workers forked later have them."""

RESULT, FAILURE, QUESTION, RETIRED = 0, 1, 2, 3
"""Messages of a worker: (RESULT, value), (FAILURE, class, message, remedy, retryable), (QUESTION, value), or (RETIRED,
lack) if it needs the rules for secrets (RULES) or a grammar, by its name: it waits for its replacement by a worker with
them. Anything that the parent sends instead says that there is none."""
RULES = "rules"

"""`python -m cqm.server.owner FOLDER`: own the index in a folder. Clients start this; nobody else has to."""

import os
import sys
from pathlib import Path


def _detach() -> None:
    """Become nobody's child: whoever started this may end, and has no process to wait for."""
    if hasattr(os, "fork") and os.fork():
        os._exit(0)


if __name__ == "__main__":
    _detach()
    os.umask(0o077)
    # What an error says of who has the index.
    sys.argv[0] = "cqm owner"
    from cqm.server.owner.process import own

    own(Path(sys.argv[1]))

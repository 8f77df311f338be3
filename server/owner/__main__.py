"""`python -m cqm.server.owner FOLDER`: own the index in a folder. Clients start this; nobody else has to."""

import os
import sys
from pathlib import Path


def _detach() -> None:
    """Fork and let the parent end, so nobody has to wait for this process."""
    if hasattr(os, "fork") and os.fork():
        os._exit(0)


if __name__ == "__main__":
    _detach()
    os.umask(0o077)
    # Error messages about a used index name this process so.
    sys.argv[0] = "cqm owner"
    from cqm.server.owner.process import own

    own(Path(sys.argv[1]))

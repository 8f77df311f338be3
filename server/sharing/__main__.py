"""`python -m cqm.server.sharing FOLDER ROOT`: own the index of ROOT, in FOLDER. Only clients start this."""

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
    folder, root = sys.argv[1:]
    # What an error says of who has the index.
    sys.argv = ["cqm owner", folder]
    from cqm.server.sharing.owner import own

    own(Path(folder), Path(root))

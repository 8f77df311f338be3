"""`python -m cqm.server.owner FOLDER ROOT`: own the index of ROOT, in FOLDER. Only clients start this."""

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
    folder, root = sys.argv[1:]
    # Error messages about a used index name this process so.
    sys.argv = ["cqm owner", folder]
    from cqm.server.console import collect_seldom
    from cqm.server.owner.process import own

    collect_seldom()
    own(Path(folder), Path(root))

"""`python -m cqm.server.owner FOLDER ROOT [HOST]`: own the index of ROOT, in FOLDER. Only clients start this.

With HOST, the folder for its socket, it owns further indexes brought by clients.
"""

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
    folder, root, *host = map(Path, sys.argv[1:])
    # Error messages about a used index name this process so.
    sys.argv = ["cqm owner"]
    from cqm.server.console import collect_seldom
    from cqm.server.owner.process import own

    collect_seldom()
    own(folder, root, *host)

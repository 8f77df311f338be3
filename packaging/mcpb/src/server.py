"""Start CQM with the arguments of the bundle's manifest."""

from cqm.server.cli.main import main

main()

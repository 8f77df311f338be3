"""The commands of `cqm`."""

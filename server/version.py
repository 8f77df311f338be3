"""The version of this code, which packaging/make.py writes: the installed package's metadata take longer to read."""

VERSION = "0.1.0"

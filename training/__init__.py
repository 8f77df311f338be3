"""Training material for the static code vectors, made from packages of public registries."""

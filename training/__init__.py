"""The material that the static code vectors are trained on, made from packages of public registries."""

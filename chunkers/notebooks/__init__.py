"""Cut Jupyter notebooks into cells as people read them."""

__all__ = ["cells", "notebook"]

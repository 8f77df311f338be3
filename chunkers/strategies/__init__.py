"""Cut by other strategies than a content type's own; the type of the options chooses one."""

__all__ = ["content", "options", "pooling", "recommended", "rules", "semantic", "table"]

"""."""

DAMAGE_FACT, UNAVAILABLE_FACT = "damage", "unavailable"


SHAPE_FACT = "shape"


WHY_FACT = "why"


COMPLETE_FACT = "complete"


UPDATED_FACT = "updated_at"


COMPARED_FACT = "compared_at"


HEAD_FACT = "git_head"


LACKING_FACT = "lacking"


PROBLEMS_FACT = "problems"


ORDER_FACT = "models"


def space_fact(route: str) -> str:
    """The name of the fact that tells the space of the preferred model of a route."""
    return f"space.{route}"

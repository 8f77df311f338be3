"""List the languages of builds, infrastructure, schemas, styles, settings and shells, one row each."""

from cqm.chunkers.languages.building import (
    builds,
    expressions,
    groovy,
    infrastructure,
    schemas,
    settings,
    shells,
    styles,
)

__all__ = ["ROWS"]

ROWS = (
    *builds.ROWS,
    *infrastructure.ROWS,
    *schemas.ROWS,
    *styles.ROWS,
    *groovy.ROWS,
    *shells.ROWS,
    *settings.ROWS,
    *expressions.ROWS,
)

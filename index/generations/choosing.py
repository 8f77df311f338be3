"""Which generation the options and their models ask for, and which model is preferred in one."""

from cqm.index.embedding.opening import BY_LATENCY
from cqm.index.embedding.routes import Route, Routes
from cqm.index.generations.generation import Generation, generation_name
from cqm.index.model.options import IndexOptions
from cqm.index.status.status import ORDER_FACT, space_fact


def settle_order(routes: Routes | None, options: IndexOptions, generation: Generation) -> None:
    """Settle which model is the quickest, once a generation: its vectors would not stay in one space otherwise."""
    if routes is None or options.routes.choose != BY_LATENCY:
        return
    if not generation.manifest.fact(ORDER_FACT):
        order, is_complete = routes.order_by_latency()
        routes.sort(order)
        if is_complete:
            generation.manifest.set_facts({ORDER_FACT: "\n".join(order)})
    use_order(routes, generation)


def use_order(routes: Routes | None, generation: Generation) -> None:
    """Prefer models as a generation did from its beginning."""
    order = generation.manifest.fact(ORDER_FACT)
    if routes and order:
        routes.sort(order.split("\n"))


def wanted_name(routes: Routes | None, options: IndexOptions, serving: Generation) -> str:
    """The name of the generation that the options ask for, with what their models have become."""
    wanted = generation_name(options)
    if serving.recipe != wanted:
        return wanted
    settle_order(routes, options, serving)
    spaces = [_spaces_of(routes, serving, route) for route in routes.routes] if routes else []
    if all(now in {"", recorded} or not recorded for recorded, now in spaces):
        return serving.name
    # Another model under the same name: what it embeds may not be compared with what is there.
    return generation_name(options, tuple(now or recorded for recorded, now in spaces))


def _spaces_of(routes: Routes, serving: Generation, route: Route) -> tuple[str, str]:
    """The space that a route's vectors are in, and that of its preferred model now; empty where it is not known."""
    now = routes.preferred(route)
    return serving.manifest.fact(space_fact(route)), now.name if now else ""

"""A plan for many repositories: machines and money by measured unit costs, then a simulation of placement and failures.

  cluster_plan.py [--repositories 10000] [--chunks 1e9] [--machines 40] [--seed 0] ...

Nothing is indexed. Sizes of repositories are drawn (lognormal), so are questions (more for large ones) and failures
(exponential). A repository is one index, or several of `--most` chunks; each index lies whole on `--replicas` machines,
and a lost one is made anew from its snapshot on others, the most asked ones first. `unit_costs.py` measures the costs.
"""

import argparse
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

DAY, YEAR = 24.0, 365 * 24.0
"""In hours, as all times here."""
ZONES = 10

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Costs:
    """Measured costs and assumed prices, each an option: KB a chunk, or MB an index; see `docs/planning.md`."""

    source: float = 1.08
    cpu_ms: float = 2.45
    import_ms: float = 1.15
    disk: float = 5.5
    disk_mb: float = 6.6
    snapshot: float = 1.44
    memory: float = 3.8
    memory_mb: float = 56.0
    question_ms: float = 12.7
    question_ms_chunk: float = 1.2e-4
    dollars_core_hour: float = 0.05
    dollars_gb_hour: float = 0.006
    dollars_disk_gb_month: float = 0.10
    dollars_object_gb_month: float = 0.025


@dataclass(frozen=True, slots=True)
class World:
    """Indexes of all repositories.

    Attributes:
        chunks: of each.
        asked: its share of all questions; each part of a large repository has that of the whole.
        work: its share of the time that all questions take.
    """

    chunks: Floats
    asked: Floats
    work: Floats


def drawn(plan: argparse.Namespace, random: np.random.Generator) -> World:
    """Draw repositories, and split those that are too large into equal parts, each of which is asked."""
    sizes = random.lognormal(0, 1.8, plan.repositories)
    sizes *= plan.chunks / sizes.sum()
    asked = np.sqrt(sizes) * random.lognormal(0, 1.0, plan.repositories)
    parts = np.ceil(sizes / plan.most).astype(int)
    chunks, asked = np.repeat(sizes / parts, parts), np.repeat(asked / asked.sum(), parts)
    work = asked * (plan.question_ms + plan.question_ms_chunk * chunks)
    return World(chunks, asked, work / work.sum())


def hashed(world: World, machines: int, replicas: int, random: np.random.Generator, *, zones: bool) -> Ints:
    """Place by rendezvous hashing: an index goes to the machines of its highest scores, in different zones if asked."""
    scores = random.random((len(world.chunks), machines))
    return _best(scores, replicas, zones=zones)


def bounded(world: World, machines: int, replicas: int, random: np.random.Generator, *, zones: bool) -> Ints:
    """The same, but a machine that has 1.1 times the mean of chunks or of questions is passed over; largest first."""
    scores = random.random((len(world.chunks), machines))
    full = np.zeros((2, machines))
    loads = np.stack([world.chunks / world.chunks.sum(), world.work])
    bound = 1.1 * replicas / machines
    places = np.empty((len(world.chunks), replicas), np.int64)
    for one in np.argsort(-loads.max(0)):
        taken = (full + loads[:, one, None] > bound).any(0)
        places[one] = _best((scores[one] - taken * (1 + full.max(0)))[None], replicas, zones=zones)[0]
        full[:, places[one]] += loads[:, one, None]
    return places


def _best(scores: Floats, replicas: int, *, zones: bool) -> Ints:
    order = np.argsort(-scores, axis=1)
    if not zones:
        return order[:, :replicas]
    found = np.empty((len(scores), replicas), np.int64)
    for row, machines in enumerate(order):
        seen = list({int(machine) % ZONES: int(machine) for machine in machines[::-1]}.values())
        rank = {int(machine): place for place, machine in enumerate(machines)}
        found[row] = sorted(seen, key=rank.__getitem__)[:replicas]
    return found


def spread(values: Floats, places: Ints, machines: int) -> float:
    """The fullest machine beside the mean."""
    held = np.bincount(places.ravel(), np.repeat(values, places.shape[1]), machines)
    return float(held.max() / held.mean())


@dataclass(frozen=True, slots=True)
class Failures:
    """Some simulated years.

    Attributes:
        failed: machines that failed in a year.
        unanswered: share of questions that no machine had the index for.
        longest: hours that an index was nowhere.
        repair: hours until all indexes of a failed machine were back, at the median.
    """

    failed: float
    unanswered: float
    longest: float
    repair: float


def failures(
    world: World, places: Ints, machines: int, plan: argparse.Namespace, random: np.random.Generator
) -> Failures:
    """Let machines fail; each loses its disk, and its indexes are imported on machines that are up."""
    places, (count, replicas) = places.copy(), places.shape
    back = np.zeros((count, replicas))
    nowhere_until, unanswered, longest, repairs = np.zeros(count), 0.0, 0.0, []
    free, down = np.zeros(machines), np.zeros(machines)
    speed = plan.repair_cores * 3600e3 / plan.import_ms
    hours = plan.years * YEAR
    times = np.sort(random.uniform(0, hours, random.poisson(machines * hours / (plan.mtbf_days * DAY))))
    for now in times:
        lost = int(random.integers(machines))
        down[lost] = now + plan.replaced_hours
        free[lost] = down[lost]
        rows, columns = np.nonzero(places == lost)
        order = np.argsort(-world.asked[rows], kind="stable")
        for row, column in zip(rows[order], columns[order], strict=True):
            up = [it for it in random.permutation(machines)[:8] if down[it] <= now and it not in places[row]]
            target = min(up, key=free.__getitem__) if up else int(places[row, column])
            free[target] = max(free[target], now + plan.noticed_minutes / 60) + world.chunks[row] / speed
            places[row, column], back[row, column] = target, free[target]
        repairs.append(float(back[rows, columns].max(initial=now)) - now)
        gone = rows[(back[rows] > now).all(1)]
        begins, ends = np.maximum(now, nowhere_until[gone]), back[gone].min(1)
        lacking = np.maximum(0, ends - begins) * world.asked[gone]
        unanswered += float(lacking.sum() / world.asked.sum()) / hours
        longest = max(longest, float((ends - now).max(initial=0)))
        nowhere_until[gone] = np.maximum(nowhere_until[gone], ends)
    return Failures(len(times) / plan.years, unanswered, longest, float(np.median(repairs)) if repairs else 0.0)


def print_needs(world: World, plan: argparse.Namespace) -> None:
    chunks, replicas = plan.chunks, plan.copies
    index_hours = chunks * plan.cpu_ms / 3600e3
    disk = replicas * (chunks * plan.disk / 1e6 + len(world.chunks) * plan.disk_mb / 1e3)
    kept = chunks * plan.snapshot / 1e6
    memory = plan.open_share * replicas * (chunks * plan.memory / 1e6 + len(world.chunks) * plan.memory_mb / 1e3)
    each = plan.question_ms + plan.question_ms_chunk * world.chunks
    cores = plan.questions * float((world.asked * each).sum()) / 1e3 / plan.busy
    daily = index_hours * plan.changed_share
    prices = {
        "first index, once": index_hours * plan.dollars_core_hour,
        "indexes on disk, a month": disk * plan.dollars_disk_gb_month,
        "snapshots in an object store, a month": kept * plan.dollars_object_gb_month,
        "memory of open indexes, a month": memory * plan.dollars_gb_hour * 730,
        "cores for questions, a month": cores * plan.dollars_core_hour * 730,
        "new commits, a month": daily * 30 * plan.dollars_core_hour,
    }
    print(
        f"{plan.repositories:,} repositories, {chunks:,.0f} chunks, {chunks * plan.source / 1e9:,.1f} TB of text read"
    )
    print(f"indexes after splitting: {len(world.chunks):,}; largest {world.chunks.max():,.0f} chunks, ", end="")
    print(f"median {np.median(world.chunks):,.0f}")
    print(f"first index: {index_hours:,.0f} core hours, with {plan.bulk_cores} cores ", end="")
    print(f"{index_hours / plan.bulk_cores:,.1f} h")
    print(f"disk: {disk / 1e3:,.1f} TB in {replicas} replicas; snapshots {kept / 1e3:,.1f} TB")
    print(f"memory: {memory:,.0f} GB for the {plan.open_share:.0%} that are open, {replicas} replicas")
    print(f"{plan.questions:,.0f} questions/s: {cores:,.0f} cores at {plan.busy:.0%} use")
    print(f"a machine of {plan.machines}: disk {disk / plan.machines:,.0f} GB, ", end="")
    print(f"memory {memory / plan.machines:,.0f} GB, {cores / plan.machines:,.1f} cores")
    for what, dollars in prices.items():
        print(f"  ${dollars:10,.0f}  {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=int, default=10_000)
    parser.add_argument("--chunks", type=float, default=1e9)
    parser.add_argument("--most", type=float, default=3e5, help="chunks of an index; larger repositories are split")
    parser.add_argument("--machines", type=int, default=40)
    parser.add_argument("--replicas", type=int, nargs="+", default=[1, 2, 3], help="simulated")
    parser.add_argument("--copies", type=int, default=2, help="replicas in the sum")
    parser.add_argument("--questions", type=float, default=1_000, help="a second, all together, at the busiest time")
    parser.add_argument("--busy", type=float, default=0.5, help="use of the cores at that time")
    parser.add_argument("--open-share", type=float, default=0.1, help="of all chunks, in indexes open at a time")
    parser.add_argument("--changed-share", type=float, default=0.01, help="of all text, changed in a day")
    parser.add_argument("--bulk-cores", type=int, default=200)
    parser.add_argument("--mtbf-days", type=float, default=180, help="of a machine; its disk is lost")
    parser.add_argument("--noticed-minutes", type=float, default=5)
    parser.add_argument("--replaced-hours", type=float, default=24)
    parser.add_argument("--repair-cores", type=float, default=4, help="of each machine, for importing snapshots")
    parser.add_argument("--years", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    for it in fields(Costs):
        parser.add_argument(f"--{it.name.replace('_', '-')}", type=float, default=it.default)
    plan = parser.parse_args()
    random = np.random.default_rng(plan.seed)
    world = drawn(plan, random)
    print_needs(world, plan)
    print(f"\n{'placement':12}{'zones':>6}{'replicas':>9}{'disk':>7}{'work':>7}{'lost':>9}{'failed':>8}", end="")
    print(f"{'unanswered':>12}{'longest h':>11}{'repair h':>10}")
    for replicas in plan.replicas:
        for place in (hashed, bounded):
            for zones in (False, True):
                random = np.random.default_rng(plan.seed + 1)  # the same scores and failures for every row
                places = place(world, plan.machines, replicas, random, zones=zones)
                held = [spread(it, places, plan.machines) for it in (world.chunks, world.work)]
                away = [world.asked[(places % ZONES == it).all(1)].sum() for it in range(ZONES)]
                found = failures(world, places, plan.machines, plan, np.random.default_rng(plan.seed + 2))
                print(
                    f"{place.__name__:12}{'yes' if zones else 'no':>6}{replicas:9}{held[0]:7.2f}{held[1]:7.2f}", end=""
                )
                print(f"{np.mean(away) / world.asked.sum():9.2%}{found.failed:8.0f}{found.unanswered:12.2e}", end="")
                print(f"{found.longest:11.2f}{found.repair:10.2f}", flush=True)
    print(
        "disk, work: the fullest machine beside the mean. lost: share of questions without an index while one zone of"
    )
    print(f"{ZONES} is away. failed: machines in a year, one at a time; unanswered: share of all questions.")


if __name__ == "__main__":
    main()

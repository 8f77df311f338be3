"""Tell what the conformance suite found: checks that passed, failed as expected, or pass and say nothing of CQM.

Usage: python tests/conformance/told.py RESULTS VACUOUS

RESULTS is the suite's --output-dir for one revision. VACUOUS is a file with a line SCENARIO:CHECK for each check that
passes because CQM has no such feature. Where nothing else of a scenario passes, its `wire-schema-valid` is counted with
them: only the form of an error was looked at. A line of VACUOUS that did not pass is an error, exit code 1.
"""

import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

WIRE = "wire-schema-valid"


def main() -> int:
    """Print the counts, then the vacuous passes by name."""
    results, listed = map(Path, sys.argv[1:])
    states: defaultdict[str, dict[str, str]] = defaultdict(dict)
    counts: Counter[str] = Counter()
    for file in sorted(results.glob("*/checks.json")):
        scenario = re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name)
        for check in json.loads(file.read_text(encoding="utf-8")):
            states[scenario][check["id"]] = check["status"]
            counts[check["status"]] += 1
    lines = (line.partition("#")[0].strip() for line in listed.read_text(encoding="utf-8").splitlines())
    known = [tuple(line.split(":", 1)) for line in lines if line]
    stale = [f"{scenario}:{check}" for scenario, check in known if states[scenario].get(check) != "SUCCESS"]
    errors = sorted(
        scenario
        for scenario, checks in states.items()
        if checks.get(WIRE) == "SUCCESS"
        and not any(
            state == "SUCCESS" and check != WIRE and (scenario, check) not in known for check, state in checks.items()
        )
    )
    told = ", ".join(f"{counts[it]} {it.lower()}" for it in ("SUCCESS", "FAILURE", "WARNING", "SKIPPED"))
    print(f"conformance {results.name}: ok, as expected: {told}")
    print(f"  vacuous passes, {len(known)} of features that CQM lacks:", *(":".join(it) for it in known))
    print(f"  vacuous passes, {len(errors)} of the form of an error alone ({WIRE}):", *errors)
    if stale:
        print(f"{listed}: expected to pass, and to say nothing:", *stale, file=sys.stderr)
    return 1 if stale or not counts["SUCCESS"] else 0


if __name__ == "__main__":
    sys.exit(main())

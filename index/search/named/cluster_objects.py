"""Read the name of a Kubernetes object, as people and kubectl write it, and find the manifests declaring it."""

import re
from itertools import islice

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.search.named.defining import NameLookup
from cqm.index.text.stored_definitions import read_definitions

_OBJECT = re.compile(
    r"(?:kubectl\s+(?:[a-z]+\s+){1,2})?(?P<kind>[A-Za-z]{2,60})(?:\.[a-z0-9.-]{1,100})?[ /]"
    r"(?P<name>[a-z0-9][a-z0-9.-]{0,200})(?:\s+-.{0,200})?"
)
_OWN_KIND = re.compile(r"[A-Z][a-z]+[A-Z]\w*")
_MOST_CHUNKS = 200
_LONGEST_KEY = 60
"""Characters of a key in the path of a chunk."""
_KINDS = {
    kind.lower(): kind
    for kind in (
        *("Pod", "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "CronJob"),
        *("Service", "Ingress", "NetworkPolicy", "Endpoints", "ConfigMap", "Secret", "ServiceAccount", "Namespace"),
        *("Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding", "PersistentVolume", "PersistentVolumeClaim"),
        *("StorageClass", "HorizontalPodAutoscaler", "PodDisruptionBudget", "CustomResourceDefinition"),
    )
}
_SHORT = {
    "po": "Pod",
    "deploy": "Deployment",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
    "rs": "ReplicaSet",
    "svc": "Service",
    "ing": "Ingress",
    "netpol": "NetworkPolicy",
    "cm": "ConfigMap",
    "sa": "ServiceAccount",
    "ns": "Namespace",
    "pv": "PersistentVolume",
    "pvc": "PersistentVolumeClaim",
    "sc": "StorageClass",
    "hpa": "HorizontalPodAutoscaler",
    "pdb": "PodDisruptionBudget",
    "crd": "CustomResourceDefinition",
    "cj": "CronJob",
    "rc": "ReplicationController",
}


def object_lines(lookup: NameLookup, text: str) -> dict[str, int]:
    """Return the line of each declaration of the object named, by the id of its chunk.

    `Deployment web`, `deployment/web`, `deployments.apps/web` and `kubectl describe deploy web` are the same; a custom
    kind is spelled as in its manifest. Empty where no manifest declares such an object.
    """
    asked = _OBJECT.fullmatch(text.strip().strip("`"))
    if not asked:
        return {}
    kind = _kind_of(asked["kind"])
    if not kind and _OWN_KIND.fullmatch(asked["kind"]) and "-" in asked["name"]:
        # "GitHub actions" is prose; looking for a name takes longer the more chunks there are.
        kind = asked["kind"]
    if not kind:
        return {}
    key = f"{kind}/{asked['name']}"[:_LONGEST_KEY]
    path = f'["{key}"]' if "." in key else key
    # The beginning of a large object may be in the chunk of the one before it, which has its name alone.
    found = (row for name in (path, asked["name"]) for row in lookup.generation.manifest.defining(name))
    rows = {row.id: row for row in islice(found, _MOST_CHUNKS) if source_type_of(row.language) != CODE}
    payloads = lookup.generation.store.payloads([*rows], ["definitions"])
    lines = dict[str, int]()
    for name, row in rows.items():
        defined = read_definitions(payloads.get(name, {}).get("definitions", ""))
        at = next((it.line for it in defined if it.name == asked["name"] and it.kind == kind.lower()), None)
        if at is not None or path in row.defines:
            lines[name] = row.start_line + (at or 0)
    return lines


def _kind_of(word: str) -> str:
    """Return the kind meant by a word; empty for other words."""
    plain = word.lower()
    for known in (plain, plain.removesuffix("s"), plain.removesuffix("es")):
        if found := _KINDS.get(known) or _SHORT.get(known):
            return found
    return ""

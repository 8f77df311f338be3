"""Define the rows of CUDA, GLSL and HLSL, which are read as C and C++ with their additions masked."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cqm.chunkers.languages.c_family import CPP, C
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    Found,
    Language,
    blanked,
    child_of_type,
    text_of,
)
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node


def _masked(*patterns: re.Pattern[bytes]) -> Callable[[bytes], bytes]:
    """Return a function which blanks the named groups of some patterns."""

    def remove(source: bytes) -> bytes:
        for pattern in patterns:
            source = pattern.sub(blanked, source)
        return source

    return remove


# A prefix becomes "inline" rather than spaces: a declaration begins where its prefix does, below its comment.
_CUDA_PREFIX = later(
    rb"(?<![\w\]])__(?:global|device|host|constant|shared|managed|forceinline|noinline|grid_constant|inline)__(?!\w)"
)
_CUDA_BOUNDS = later(
    rb"(?P<all>__(?:launch_bounds|align|cluster_dims)__[ \t]*\((?:[^()\n]|\([^()\n]{0,200}\)){0,200}\))"
)
_CUDA_RESTRICT = later(rb"(?P<all>\b__restrict(?:__)?\b)")
_CUDA_LAUNCH = later(rb"(?P<all><<<(?:(?!<<<)[^;{}]){0,400}?>>>)")
_CUDA_LAMBDA = later(rb"\][ \t]*(?P<first>__(?:host|device)__)[ \t]*(?P<second>__(?:host|device)__)?")


def _cuda_prefixes(source: bytes) -> bytes:
    return _CUDA_PREFIX.sub(lambda found: b"inline".ljust(len(found[0])), source)


CUDA = replace(
    CPP,
    name="cuda",
    suffixes=(".cu", ".cuh"),
    removed=(*CPP.removed, _masked(_CUDA_LAMBDA, _CUDA_LAUNCH, _CUDA_BOUNDS, _CUDA_RESTRICT), _cuda_prefixes),
)


def _glsl_declaration(node: "Node", source: bytes) -> Found | None:
    # A block of an interface, such as "layout(...) uniform Camera { mat4 view; } camera" with its fields.
    fields = child_of_type(node, "field_declaration_list")
    if fields is None:
        return C.rules["declaration"](node, source)
    name = text_of(child_of_type(node, "identifier", "type_identifier"), source)
    return Found("struct", name, (fields,)) if name else None


_GLSL_ALONE = later(
    rb"^[ \t]*(?P<all>(?:layout[ \t]*\([^()\n]{0,300}\)[ \t]*(?:in|out)|precision[ \t]+\w+[ \t]+\w+)[ \t]*;)",
    re.MULTILINE,
)
_GLSL_VERSION = later(rb"^[ \t]*(?P<all>#[ \t]*(?:version|extension)[^\n]*)", re.MULTILINE)
_GLSL_WORD = later(
    rb"(?<![\w.])(?P<all>(?:smooth|flat|noperspective|invariant|precise|lowp|mediump|highp|coherent|volatile|restrict"
    rb"|readonly|writeonly|patch|centroid|sample|rayPayloadEXT|rayPayloadInEXT|hitAttributeEXT|nonuniformEXT"
    rb"|taskPayloadSharedEXT|perprimitiveEXT|buffer_reference))(?=[ \t]+\w)"
)

_GLSL_DIRECTION = later(rb"(?<!\w)const[ \t]+(?P<all>in|out|inout)(?=[ \t]+\w)")

GLSL = Language(
    name="glsl",
    grammar=("tree_sitter_glsl", "language"),
    extra="languages",
    unsafe=nests_expressions,
    suffixes=(
        *(".glsl", ".vert", ".frag", ".geom", ".comp", ".tesc", ".tese", ".vsh", ".fsh", ".rgen", ".rchit", ".rmiss"),
        *(".rahit", ".glslf", ".glslv", ".gdshader"),
    ),
    rules={**C.rules, "declaration": _glsl_declaration},
    removed=(*C.removed, _masked(_GLSL_ALONE, _GLSL_VERSION, _GLSL_WORD, _GLSL_DIRECTION)),
    nodes=C.nodes,
    unread=C.unread,
    by_lines=C.by_lines,
)


_HLSL_AT = later(rb"(?P<all>:[ \t]*(?:register|packoffset|read|write)[ \t]*\([^()\n]{0,100}\))")
# The meaning of a parameter, field or result: ": SV_Position". In lists of bases a brace follows, after capital letters
# only in results.
_HLSL_MEANING = later(rb"(?<=[\w)\]])[ \t]*(?P<all>:[ \t]*[A-Za-z_]\w*)(?=[ \t]*[,;)=])")
_HLSL_RESULT = later(rb"\)[ \t]*(?P<all>:[ \t]*[A-Za-z_]\w*)(?=\s*\{)")
_HLSL_ATTRIBUTE = later(
    rb"(?P<all>(?<![\w\])])\[[ \t]*(?:numthreads|unroll|loop|branch|flatten|shader|RootSignature|maxvertexcount|domain"
    rb"|partitioning|outputtopology|outputcontrolpoints|patchconstantfunc|maxtessfactor|instance|earlydepthstencil"
    rb"|fastopt|allow_uav_condition|call|forcecase|WaveSize|outputpatch|NodeLaunch|noinline)\b[^\]\n]{0,300}\])"
)
_HLSL_WORD = later(
    rb"(?<![\w.])(?P<all>groupshared|nointerpolation|noperspective|centroid|row_major|column_major|inout|precise"
    rb"|globallycoherent|unorm|snorm|uniform|triangle|point|line|lineadj|triangleadj|in|out|linear|shared)(?=[ \t]+\w)"
)
_HLSL_STRUCT = later(rb"(?<![\w.])(?:cbuffer|tbuffer|interface|technique\d*)(?=[ \t]+\w+\s*[:{])")
_HLSL_STATE = later(rb"(?P<all>(?<=\w)\s*\{\s*(?:\w+\s*=\s*[^;{}]{0,100};\s*){1,20}\})(?=\s*;)")


def _hlsl_structs(source: bytes) -> bytes:
    def word(found: re.Match[bytes]) -> bytes:
        # A technique ends without a semicolon, as a namespace does.
        return (b"namespace" if found[0].startswith(b"technique") else b"struct").ljust(len(found[0]))

    return _HLSL_STRUCT.sub(word, source)


def _hlsl_states(source: bytes) -> bytes:
    # The state of a sampler is no body.
    return _HLSL_STATE.sub(lambda found: re.sub(rb"[^\n]", b" ", found[0]), source)


HLSL = replace(
    CPP,
    name="hlsl",
    suffixes=(".hlsl", ".hlsli", ".fx", ".fxh", ".usf", ".ush", ".cginc", ".compute"),
    removed=(
        *CPP.removed,
        _masked(_HLSL_ATTRIBUTE, _HLSL_AT, _HLSL_RESULT, _HLSL_MEANING, _HLSL_WORD),
        _hlsl_structs,
        _hlsl_states,
    ),
)

ROWS = (CUDA, GLSL, HLSL)

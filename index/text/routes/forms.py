"""The forms in which frameworks declare routes, as one table.

Each pattern has the groups `path`, mostly `verb`, sometimes `on` (the receiver) and `var` (the assigned variable). To
add a framework, add a row.
"""

import re
from typing import NamedTuple

_TEXT = r"(?:[\w.]{1,40}[ ]*\+[ ]*)?[rbuf@$]{0,2}(?P<q>[\"'`])(?P<path>[^\"'`\n]{0,300})(?P=q)"
_LOWER = "get|post|put|patch|delete|del|head|options|all|any"
_UPPER = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|ANY|Any"
_TITLED = "Get|Post|Put|Patch|Delete|Head|Options|All"
CLIENT = re.compile(r"(?:^|\.)(?:axios|\$?http|requests?|agent|session|cy|page|\$)$|[Cc]lient$")
"""Receivers of calls to another program."""


class Form(NamedTuple):
    """A form of declarations.

    Attributes:
        cues: a file with such a declaration has one of these texts; looking for them is far cheaper.
        pattern: of the beginning of a declaration.
        is_weak: whether other lines have this form too.
        is_of_servers: whether the same call on a client asks another program.
    """

    cues: tuple[str, ...]
    pattern: re.Pattern[str]
    is_weak: bool = False
    is_of_servers: bool = False


def _form(cues: str, pattern: str, *, is_weak: bool = False, is_of_servers: bool = False) -> Form:
    return Form(tuple(cues.split()), re.compile(pattern, re.MULTILINE), is_weak, is_of_servers)


FORMS = (
    _form(
        # Express, Fastify, Koa, Hono, gin, echo, chi, Javalin
        ".get( .post( .put( .patch( .delete( .del( .all( .any( .head( .options( .GET( .POST( .PUT( .PATCH( .DELETE("
        " .ANY( .Any( .Get( .Post( .Put( .Patch( .Delete(",
        rf"^[ \t]*(?P<on>[\w$.]{{0,60}}?)\.(?P<verb>{_LOWER}|{_UPPER}|{_TITLED})\(\s{{0,200}}"
        rf"(?=[\w.+ \t]{{0,60}}[\"'`](?:[/*]|[\"'`])){_TEXT}(?=\s*,)",
        is_of_servers=True,
    ),
    _form(
        # Express' use and route, net/http, gorilla/mux, chi, axum, actix
        ".use( oute( .nest( ount( andle ervice( Prefix( Static scope( resource(",
        rf"^[ \t]*(?P<on>[\w$.]{{0,60}}?)\.(?P<verb>use|route|Route|nest|mount|Mount|HandleFunc|Handle|handle|scope"
        rf"|route_service|PathPrefix|StaticFS|StaticFile|Static|service|web::scope|web::resource)\(\s*{_TEXT}",
    ),
    _form(
        # groups of gin, echo, fiber, ASP.NET
        "roup( .basePath(",
        rf"^[ \t]*(?:(?:var|let|const|auto) )?(?P<var>\w+)[ \t]*(?::?=)[ \t]*(?P<on>[\w$.()]{{0,60}}?)"
        rf"\.(?P<verb>Group|group|MapGroup|basePath)\(\s*{_TEXT}",
    ),
    _form(
        # ASP.NET's minimal API
        ".Map",
        rf"^[ \t]*(?:return )?(?P<on>[\w.]{{0,60}}?)\.(?P<verb>Map(?:{_TITLED}|Methods|Group|Hub)?)\(\s*{_TEXT}",
    ),
    _form(
        # Laravel
        "Route::",
        rf"^[ \t]*Route::(?P<verb>{_LOWER}|match|view|redirect|permanentRedirect|resource|apiResource|prefix|inertia)"
        rf"\(\s*(?:\[[^\]\n]{{0,80}}\],\s*)?{_TEXT}",
    ),
    # Laravel's groups
    _form(">prefix(", rf"^[ \t]*(?:Route::|->)[^\n]{{0,200}}?->(?P<verb>prefix)\(\s*{_TEXT}"),
    _form(
        # decorators and annotations: Flask, FastAPI, NestJS, Spring, JAX-RS, Retrofit
        "@",
        rf"^[ \t]*@(?:(?P<on>[\w.]{{1,60}})\.)?"
        rf"(?P<verb>(?:{_LOWER}|route|websocket|api_route)(?=\()|{_UPPER}|(?:{_TITLED})(?:Mapping)?|RequestMapping|Path"
        rf"|Controller|Route|Prefix)\b(?:\([^\"'`()]{{0,120}}?{_TEXT}|\(\s*\)|(?<=Mapping)\s*$)",
    ),
    # ASP.NET's attributes
    _form("[Http [Route", rf"^[ \t]*\[(?P<verb>Http(?:{_TITLED})|Route)(?:\(\s*{_TEXT}|[,\]])"),
    # gRPC with google.api.http
    _form(
        "google.api.http",
        rf"^[ \t]*rpc[ \t]+(?P<handler>\w+)[^{{}};]{{0,300}}\{{(?:[^{{}}]|\{{[^{{}}:]{{0,40}}\}}){{0,300}}?"
        rf"option[ \t]*\(google\.api\.http\)[ \t]*=[ \t]*\{{[^{{}}]{{0,200}}?"
        rf"\b(?P<verb>get|post|put|patch|delete)[ \t]*:\s*{_TEXT}",
    ),
    # actix, Rocket
    _form("#[", rf"^[ \t]*#\[(?:\w+::)?(?P<verb>{_LOWER}|route)\(\s*{_TEXT}"),
    # Symfony
    _form("#[", rf"^[ \t]*#\[(?P<verb>Route|{_TITLED})\((?:path:)?\s*{_TEXT}"),
    _form(
        # Rails, Sinatra, Phoenix, Plug, Ktor
        "",
        rf"^[ \t]*(?P<verb>{_LOWER}|match|live|scope|forward|mount|route)(?:[ \t]+|[ \t]*\([ \t]*){_TEXT}",
    ),
    _form(
        # Rails' resources
        "resource namespace scope",
        r"^[ \t]*(?P<verb>resources?|namespace|scope)[ \t(]+:(?P<path>\w+)",
    ),
    # Phoenix' resources
    _form("resources", rf"^[ \t]*(?P<verb>resources)[ \t(]+{_TEXT}"),
    # Django
    _form("path( url(", rf"(?:^[ \t]*|[\[,][ \t]*)(?P<verb>path|re_path|url)\(\s*{_TEXT}"),
    _form(
        # Starlette, aiohttp, Falcon
        "Route( Mount( Rule( add_ web.",
        rf"\b(?:web\.|add_)?(?P<verb>{_LOWER}|Route|Mount|WebSocketRoute|Rule|add_route|add_url_rule|add_api_route)"
        rf"\(\s*(?=r?[\"']/){_TEXT}(?=\s*,\s*(?:endpoint=|view_func=|app=)?[\w.]+\s*[,)])",
    ),
    # Tornado
    _form("Handler", rf"^[ \t]*\([ \t]*(?=r?[\"'][/^]){_TEXT}(?=\s*,\s*[A-Z]\w+)"),
    _form(
        # Vue, Angular, React and Fastify as objects, go_router
        "path:",
        rf"(?:^|[{{,(])[ \t]*path:\s*{_TEXT}",
        is_weak=True,
    ),
    # React Router's elements
    _form("Route", rf"<\w*Route\b[^<>]{{0,200}}?\bpath=\{{?{_TEXT}"),
    # TanStack Router
    _form("FileRoute(", rf"\bcreate(?:Lazy)?FileRoute\(\s*{_TEXT}"),
    # Blazor and Razor Pages
    _form("@page", rf"^\ufeff?@(?P<verb>page)[ \t]+{_TEXT}"),
    # Compose
    _form("route composable(", rf"\b(?:route[ \t]*=|composable\()\s*{_TEXT}"),
    # matches of a method and a path
    _form("Method::", rf"\bMethod::(?P<verb>{_UPPER})\s*,\s*{_TEXT}"),
    # branches by path
    _form("case", rf"^[ \t]*case[ \t]+(?=[\"']/){_TEXT}[ \t]*:", is_weak=True),
)
"""Earlier ones tell more: a later one at the same place does not count."""

ASSIGNED_PREFIX = re.compile(
    r"^[ \t]*(?:export |const |let |var )*(?P<var>\w+)[ \t]*=[ \t]*(?:new )?[\w.]{1,40}\("
    rf"[^()]{{0,300}}?\b(?:url_)?prefix[ \t]*[=:][ \t]*{_TEXT}",
    re.MULTILINE,
)
"""A router with a prefix: `router = APIRouter(prefix="/users")`, `Blueprint("x", __name__, url_prefix="/x")`."""
NAMED_LIST = re.compile(r"^(?P<var>\w+)[ \t]*(?::[^=\n]{1,60})?\+?=[ \t]*\[", re.MULTILINE)
"""A list of Django's routes, which another route includes."""
INCLUDED = re.compile(r"\s*,\s*include\(\s*\(?(?P<var>\w+)\b(?!\.)")
MOUNTS = frozenset({
    "use", "nest", "mount", "scope", "web::scope", "pathprefix", "group", "mapgroup", "basepath", "prefix",
    "controller", "namespace", "forward",
})  # fmt: skip
"""Verbs, in lower case, putting routes below a path; mostly they are no routes themselves."""
_VERBS = {"del": "DELETE", "staticfs": "GET", "static": "GET", "staticfile": "GET", "view": "GET", "live": "GET"}
_ROUTED = re.compile(r"^(?:map|http)?(get|post|put|patch|delete|head|options)(?:mapping)?$")
_SAID = re.compile(r"(?:\b[Mm]ethods?\b|\bvia\b)[^\w\n]{1,8}([^)\]}\n]{0,100})")
_METHOD = re.compile(r"(?:http\.Method|\b)(get|post|put|patch|delete|head|options)\b", re.IGNORECASE)


def methods_of(verb: str, tail: str) -> frozenset[str]:
    """Return the methods of a declaration, in capitals; none if any is answered.

    Parameters:
        tail: the text behind its path: `methods=["POST"]`, `.Methods(http.MethodPost)`, `via: :get`.
    """
    verb = verb.lower()
    if own := _ROUTED.fullmatch(verb):
        return frozenset({own[1].upper()})
    if verb in _VERBS:
        return frozenset({_VERBS[verb]})
    said = _SAID.search(tail)
    return frozenset(it.upper() for it in _METHOD.findall(said[1])) if said else frozenset()

"""Routes as questions: the line that declares the route comes first, then its handler."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from indexed_tree import indexed_tree

from cqm.index.engine import Index
from cqm.index.model.query import Answer, Confidence, Query
from cqm.index.ranking.question import read_question

pytestmark = pytest.mark.processes

RAILS = """Rails.application.routes.draw do
  get "/login" => "sessions#index"
  post "/login" => "sessions#login"
  resources :stories, except: [:index] do
    post "upvote"
  end
  namespace :admin do
    get "reports", to: "reports#index"
  end
  get "/s/:id/(:title)" => "stories#show"
  get "/~:username/standing" => "users#standing"
end
"""
CONTROLLER = """class StoriesController < ApplicationController
  def show
    @story = Story.find(params[:id])
  end

  def upvote
    Vote.cast(@story)
  end
end
"""
PHOENIX = """defmodule ShopWeb.Router do
  use ShopWeb, :router

  scope "/dashboard", ShopWeb do
    get "/orgs/:org/billing", OrganizationController, :billing
    post "/orgs/:org/leave", OrganizationController, :leave
  end
end
"""
DJANGO = """from django.urls import include, path, re_path
from shop import views

check_urls = [
    path("checks/", views.list_checks),
    path("checks/<uuid:code>/pause", views.pause),
]

urlpatterns = [
    path("api/v3/", include(check_urls)),
    re_path(r"^archive/(?P<year>[0-9]{4})/$", views.archive),
]
"""
DJANGO_VIEWS = """def list_checks(request):
    return render(request)


def pause(request, code):
    return stop(code)


def archive(request, year):
    return old(year)
"""
SPRING = """package shop;

@RestController
@RequestMapping("/api/owners")
class OwnerController {

    @GetMapping("/{ownerId}/edit")
    public String initUpdateForm() {
        return "owners/form";
    }

    @PostMapping("/{ownerId}/edit")
    public String processUpdateForm() {
        return "redirect:/owners";
    }
}
"""
GIN = """package main

func routes() *gin.Engine {
	r := gin.New()
	apiv1 := r.Group("/gin/v1")
	apiv1.GET("/articles/:id", v1.GetArticle)
	apiv1.DELETE("/articles/:id", v1.DeleteArticle)
	r.StaticFS("/upload/images", http.Dir("images"))
	mux.HandleFunc("PUT /widgets/{id}", putWidget)
	return r
}
"""
FASTAPI = """from fastapi import APIRouter

router = APIRouter(prefix="/items", tags=["items"])


@router.get("/{id}")
def read_item(id: int):
    return load(id)


@router.patch(
    "/{id}/price",
    response_model=Item,
)
def change_price(id: int):
    return price(id)
"""
NEST = """@Controller('profiles')
export class ProfileController {
  @Get(':username')
  async getProfile(username: string) {
    return this.profiles.find(username);
  }

  @Delete(':username/follow')
  async unFollow(username: string) {
    return this.profiles.unfollow(username);
  }
}
"""
EXPRESS = """const router = express.Router();

router.get("/api/badge/:id/uptime/:duration?", cache("5 minutes"), async (request, response) => {
    response.send(await badge(request.params.id));
});

router.all("/api/push/:token", async (request, response) => {
    response.json(await push(request.params.token));
});
"""
LARAVEL = """<?php
Route::prefix('vaults')->group(function () {
    Route::middleware('can:view')->prefix('{vault}')->group(function () {
        Route::put('contacts/{contact}/move', [ContactMoveController::class, 'store'])->name('contact.move');
    });
});
"""
LARAVEL_CONTROLLER = """<?php
class ContactMoveController
{
    public function store($vault, $contact)
    {
        return $this->move($vault, $contact);
    }
}
"""
ASPNET = """public static class OrdersApi
{
    public static RouteGroupBuilder MapOrders(this IEndpointRouteBuilder app)
    {
        var api = app.MapGroup("api/orders");
        api.MapGet("{orderId:int}", GetOrderAsync);
        api.MapPut("/cancel", CancelOrderAsync);
        return api;
    }

    public static Task<Ok> CancelOrderAsync(CancelOrderCommand command)
    {
        return Send(command);
    }
}
"""
AXUM = """fn app() -> Router {
    Router::new()
        .route("/devices/:id/pair", post(pair_device))
}

async fn pair_device(id: String) -> String {
    id
}

#[get("/devices/{id}/status")]
async fn device_status(id: String) -> String {
    id
}
"""
VUE = """const routes = [
    {
        path: "/preferences",
        component: Preferences,
        children: [
            {
                path: "api-keys",
                component: APIKeys,
            },
        ],
    },
];
"""
FILES = {
    "rails/config/routes.rb": RAILS,
    "rails/app/controllers/stories_controller.rb": CONTROLLER,
    "phoenix/lib/router.ex": PHOENIX,
    "django/urls.py": DJANGO,
    "django/views.py": DJANGO_VIEWS,
    "spring/OwnerController.java": SPRING,
    "gin/router.go": GIN,
    "gin/article.go": "package v1\n\nfunc GetArticle(c *gin.Context) {\n\tc.JSON(find(c))\n}\n",
    "fastapi/items.py": FASTAPI,
    "nest/profile.controller.ts": NEST,
    "express/api-router.js": EXPRESS,
    "laravel/routes/web.php": LARAVEL,
    "laravel/app/ContactMoveController.php": LARAVEL_CONTROLLER,
    "aspnet/OrdersApi.cs": ASPNET,
    "axum/server.rs": AXUM,
    "vue/router.js": VUE,
    "next/app/(editor)/editor/[postId]/page.tsx": "export default function EditorPage() {\n  return <Editor />\n}\n",
    "next/app/notes/[id]/route.ts": "export async function GET() {\n  return one()\n}\n\n"
    "export async function PATCH(req: Request) {\n  return change(req)\n}\n",
    "svelte/src/routes/boards/[slug]/+page.svelte": "<script>\n  export let data;\n</script>\n<h1>{data.title}</h1>\n",
    "tests/login_test.rb": 'class LoginTest\n  def test_login\n    get "/login"\n    post "/login"\n  end\nend\n',
    "tests/client.py": "def test_items(client):\n    assert client.get('/items/5').status_code == 200\n"
    "    assert client.get('/api/v3/checks/').ok\n",
    "web/client.ts": "export async function load() {\n  const it = await axios.get('/items/5');\n  return it;\n}\n",
    "docs/api.md": "# API\n\nAsk `POST /login` for a session, then `GET /items/5`. See /internal/only/here for more.\n",
    "etc/hosts": "127.0.0.1 localhost\n",
    "api/shop.proto": "service Shop {\n  rpc ListBeers (ListRequest) returns (ListReply) {\n"
    '    option (google.api.http) = {\n      get: "/v1/beers"\n    };\n  }\n}\n',
    "api/shop_http.pb.go": "// Code generated by protoc-gen-go-http. DO NOT EDIT.\npackage api\n\n"
    'func Register(r *Router) {\n\tr.GET("/v1/beers", list)\n}\n',
    "Web/BasketController.cs": '[Route("[controller]/[action]")]\npublic class BasketController : Controller\n{\n'
    "    [HttpGet]\n    public IActionResult Totals()\n    {\n        return View();\n    }\n}\n",
    "src/app.py": "def run():\n    return 'a/b testing'\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with indexed_tree(tmp_path_factory.mktemp("routes"), FILES, "apps") as opened:
        yield opened


def ask(index: Index, text: str) -> Answer:
    return index.search(Query(text))


@pytest.mark.parametrize(
    ("text", "path", "declaration"),
    [
        ("POST /login", "rails/config/routes.rb", 'post "/login" =>'),
        ("https://news.example.com/s/k3u0zx/some_title", "rails/config/routes.rb", 'get "/s/:id/(:title)"'),
        ("/s/k3u0zx", "rails/config/routes.rb", 'get "/s/:id/(:title)"'),
        ("GET /~anna/standing", "rails/config/routes.rb", 'get "/~:username/standing"'),
        ("POST /stories/17/upvote", "rails/config/routes.rb", 'post "upvote"'),
        ("GET /admin/reports", "rails/config/routes.rb", 'get "reports"'),
        ("/dashboard/orgs/acme/billing", "phoenix/lib/router.ex", 'get "/orgs/:org/billing"'),
        ("/api/v3/checks/803f680d/pause", "django/urls.py", 'path("checks/<uuid:code>/pause"'),
        ("GET /archive/2024/", "django/urls.py", 're_path(r"^archive/'),
        ("POST /api/owners/42/edit", "spring/OwnerController.java", '@PostMapping("/{ownerId}/edit")'),
        ("GET /gin/v1/articles/12?full=1", "gin/router.go", 'apiv1.GET("/articles/:id"'),
        ("/upload/images/a1.png", "gin/router.go", 'r.StaticFS("/upload/images"'),
        ("PUT /widgets/3", "gin/router.go", 'mux.HandleFunc("PUT /widgets/{id}"'),
        ("GET /items/5", "fastapi/items.py", '@router.get("/{id}")'),
        ("PATCH /api/v1/items/5/price", "fastapi/items.py", "@router.patch("),
        ("DELETE /api/profiles/:username/follow", "nest/profile.controller.ts", "@Delete(':username/follow')"),
        ("GET /api/badge/3/uptime/24", "express/api-router.js", 'router.get("/api/badge'),
        ("http://localhost:3001/api/push/ab12?status=up&msg=OK", "express/api-router.js", 'router.all("/api/push'),
        ("PUT /vaults/7/contacts/9/move", "laravel/routes/web.php", "Route::put('contacts/{contact}/move'"),
        ("PUT /api/orders/cancel", "aspnet/OrdersApi.cs", 'api.MapPut("/cancel"'),
        ("GET /api/orders/12", "aspnet/OrdersApi.cs", 'api.MapGet("{orderId:int}"'),
        ("POST /devices/a1/pair", "axum/server.rs", '.route("/devices/:id/pair"'),
        ("/devices/a1/status", "axum/server.rs", '#[get("/devices/{id}/status")]'),
        ("/preferences/api-keys", "vue/router.js", 'path: "api-keys"'),
        ("GET /v1/beers", "api/shop.proto", "rpc ListBeers"),
        ("GET /Basket/Totals", "Web/BasketController.cs", "[HttpGet]"),
        ("POST /login 404", "rails/config/routes.rb", 'post "/login" =>'),
        ("PATCH /notes/5", "next/app/notes/[id]/route.ts", "export async function PATCH"),
    ],
)
def test_a_route_is_answered_by_the_line_that_declares_it(index: Index, text: str, path: str, declaration: str) -> None:
    answer = ask(index, text)
    first = answer.hits[0]
    lines = FILES[path].split("\n")
    assert first.path == path
    assert first.asked_line is not None
    assert declaration in lines[first.asked_line - 1]
    assert answer.confidence is Confidence.HIGH


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("http://localhost:3000/editor/clabc123", "next/app/(editor)/editor/[postId]/page.tsx"),
        ("/boards/red", "svelte/src/routes/boards/[slug]/+page.svelte"),
    ],
)
def test_a_folder_that_is_a_route_answers_it(index: Index, text: str, path: str) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.confidence) == (path, Confidence.HIGH)


@pytest.mark.parametrize(
    ("text", "path", "symbol"),
    [
        ("GET /s/k3u0zx", "rails/app/controllers/stories_controller.rb", "StoriesController.show"),
        ("/api/v3/checks/803f680d/pause", "django/views.py", "pause"),
        ("GET /gin/v1/articles/12", "gin/article.go", "GetArticle"),
        ("PUT /vaults/7/contacts/9/move", "laravel/app/ContactMoveController.php", "ContactMoveController.store"),
    ],
)
def test_the_handler_that_a_declaration_names_comes_second(index: Index, text: str, path: str, symbol: str) -> None:
    hit = ask(index, text).hits[1]
    assert (hit.path, hit.symbol) == (path, symbol)


def test_words_that_ask_for_the_handler_and_a_line_of_a_log_are_read_as_the_route(index: Index) -> None:
    plain = [hit.path for hit in ask(index, "GET /items/5").hits[:1]]
    for text in (
        "which handler serves GET /items/5",
        "where is the endpoint `GET /items/5` defined?",
        '10.0.0.1 - - "GET /items/5 HTTP/1.1" 200 5123 "-" "Mozilla/5.0"',
    ):
        assert [hit.path for hit in ask(index, text).hits[:1]] == plain, text


@pytest.mark.parametrize("text", ["GET /spaceships/9/launch", "/items/5/refund/all", "DELETE /items/5"])
def test_a_route_that_nothing_declares_is_not_surely_answered(index: Index, text: str) -> None:
    assert ask(index, text).confidence is not Confidence.HIGH


def test_a_route_that_only_a_document_has_is_answered_by_that(index: Index) -> None:
    assert ask(index, "/internal/only/here").hits[0].path == "docs/api.md"


@pytest.mark.parametrize(("text", "path"), [("/etc/hosts", "etc/hosts"), ("/src/app.py", "src/app.py")])
def test_the_path_of_a_file_stays_one(index: Index, text: str, path: str) -> None:
    answer = ask(index, text)
    assert (answer.hits[0].path, answer.confidence) == (path, Confidence.HIGH)


def test_words_with_a_slash_are_words(index: Index) -> None:
    assert ask(index, "a/b testing").hits[0].path == "src/app.py"


def test_a_filter_keeps_the_declaration_out(index: Index) -> None:
    answer = index.search(Query("GET /items/5", include=("tests/**",)))
    assert {hit.path.partition("/")[0] for hit in answer.hits} == {"tests"}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "a = [\n" + "path('notifications/', include(a)),\n" * 30 + "]\n", id="a list that includes itself"
        ),
        pytest.param('app.get("/v1/' + "".join(f"{{p{n}}}" for n in range(40)) + 'X", notifications)\n', id="marks"),
        pytest.param(
            'notifications = a.group("/x")\na = a.group("/x")\n' + 'a = a.group("/x")\n' * 4000, id="prefixes"
        ),
        pytest.param("notifications\n" + ("a.get(" + " " * 2000 + "x\n") * 200, id="blanks"),
    ],
)
def test_a_file_of_routes_could_hold_up_each_question_about_a_route(tmp_path: Path, text: str) -> None:
    with indexed_tree(
        tmp_path, {"hostile.py": text, "app.py": '@app.get("/v1/notifications")\ndef told(): ...\n'}
    ) as it:
        assert it.search(Query("GET /v1/notifications")).hits[0].path == "app.py"


@pytest.mark.parametrize(
    "text", ["HTTP request/response code", "find the URL encode/decode function", "what does /= do"]
)
def test_capitals_and_operators_were_taken_for_routes(index: Index, text: str) -> None:
    assert read_question(text).route is None


def test_an_operation_of_openapi_is_answered_by_its_own_method(tmp_path: Path) -> None:
    long = "".join(
        f"        '{status}': {{description: {'The order as it is kept in the shop. ' * 9}}}\n"
        for status in range(200, 206)
    )
    operations = "".join(
        f"    {method}:\n      summary: An order\n      operationId: {method}Order\n      responses:\n{long}"
        for method in ("get", "put", "delete")
    )
    text = f"openapi: 3.0.0\ninfo: {{title: Shop, version: '1'}}\npaths:\n  /orders/{{id}}:\n{operations}"
    with indexed_tree(tmp_path, {"openapi.yaml": text}) as index:
        for method in ("DELETE", "PUT", "GET"):
            answer = index.search(Query(f"{method} /orders/{{id}}"))
            assert answer.hits[0].symbol == f"{method} /orders/{{id}}"
            assert f"{method.lower()}Order" in answer.hits[0].text

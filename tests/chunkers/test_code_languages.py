"""Every language: which rows of its fixture make a chunk, and what the chunk is called."""

from pathlib import Path

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages import LANGUAGES
from cqm.chunkers.model import ChunkOptions, Document

FIXTURES = Path(__file__).parent / "fixtures" / "code"

# First and last line, kind and symbol of each chunk when nothing is packed and the limit is 96 tokens.
EXPECTED = {
    "bash": """
        1-3 statement
        5-6 constant TARGET
        8-12 function fail
        14-17 function build
        19-21 function late
        23-23 statement
        25-25 statement
    """,
    "batch": """
        1-5 variable ROOT
        7-12 statement
        14-22 function build
        24-29 function failed
        31-35 function clean
        37-38 function no-such_label.2
    """,
    "c": """
        1-3 imports
        5-5 macro MAX_ITEMS
        6-9 macro SWAP
        11-11 type uint
        13-16 struct node_t
        18-18 enum color
        20-23 struct word
        25-25 struct list
        27-27 variable count
        29-29 function list_size
        31-39 function list_add
        41-46 function list_lock
        47-52 function list_lock
        54-57 variable names
        59-62 function get_callback
    """,
    "cmake": """
        1-1 statement
        2-2 project geometry
        4-5 imports
        7-12 variable SOURCES
        14-23 function geometry_library
        25-27 macro note
        29-31 target geometry
        32-34 target geometry
        36-36 target demo
        37-37 statement
        39-41 target docs
        43-47 statement
        48-49 test all_shapes
        51-51 statement
    """,
    "cpp": """
        1-1 statement
        2-2 imports
        4-9 function shape_count
        11-11 namespace geo
        12-20 namespace geo.detail
        22-37 class geo.Shape
        39-43 struct geo.Pair
        45-45 enum geo.Kind
        47-47 type geo.Shapes
        49-51 method geo.Shape.perimeter
        53-53 method geo.Shape.Shape
        55-58 type geo.Drawable
        60-64 function debug_dump
        66-68 function main
    """,
    "csharp": """
        1-2 imports
        4-5 namespace Shop.Orders
        6-7 enum Shop.Orders.Status
        9-16 class Shop.Orders.Order
        18-18 property Shop.Orders.Order.Changed
        20-24 constructor Shop.Orders.Order.Order
        26-26 method Shop.Orders.Order.~Order
        28-29 property Shop.Orders.Order.Id
        31-31 property Shop.Orders.Order.this[]
        33-37 method Shop.Orders.Order.PayAsync
        39-39 method Shop.Orders.Order.operator +
        41-45 struct Shop.Orders.Order.Line
        47-51 interface Shop.Orders.IOrder
        53-53 class Shop.Orders.Customer
        55-55 type Shop.Orders.Paid
        57-63 class Shop.Orders.OrderExtensions
    """,
    "css": """
        1-2 imports
        4-6 rule :root
        8-12 rule .button, a.button:hover
        14-19 rule @media (max-width: 600px)
        21-24 rule @keyframes spin
        26-29 rule @font-face
    """,
    "dockerfile": """
        1-2 variable GO_VERSION
        4-15 stage build
        16-19 stage build
        21-24 stage test
        26-35 stage gcr.io/distroless/static:nonroot
        37-42 stage docs
    """,
    "elixir": """
        1-4 module Shop.Accounts
        6-8 imports Shop.Accounts
        10-10 constant Shop.Accounts.limit
        12-12 struct Shop.Accounts
        14-14 type Shop.Accounts.t
        16-16 function Shop.Accounts.load
        18-26 function Shop.Accounts.get
        28-31 function Shop.Accounts.check
        33-36 macro Shop.Accounts.add
        38-40 module Shop.Accounts.Error
        42-43 macro Shop.Accounts.is_small
        45-48 interface Shop.Size
        50-52 class Shop.Size.List
        54-62 module Shop.AccountsTest
    """,
    "go": """
        1-2 imports
        4-7 imports
        9-10 constant DefaultPort
        12-16 constant Running
        18-18 variable registry
        20-21 type State
        23-26 interface Handler
        28-32 struct Options
        33-34 type Hook
        36-42 struct Server
        44-47 function New
        49-55 method Server.Run
        57-57 method Options.String
    """,
    "graphql": """
        1-5 schema schema
        7-15 type Order
        17-19 type Order
        21-24 type OrderInput
        26-30 enum State
        32-34 interface Priced
        36-36 type Found
        38-39 type Money
        41-41 directive key
        43-48 query FindOrder
        50-52 mutation Pay
        54-57 fragment OrderParts
    """,
    "groovy": """
        1-1 imports
        3-4 imports
        6-12 class Order
        14-16 constructor Order.Order
        18-24 method Order.add
        26-26 method Order.total
        28-28 enum Order.State
        30-34 test Order.an order has a total
        36-38 interface Priced
        40-42 trait Named
        44-46 block plugins
        48-50 block dependencies
        52-55 task copyDocs
        57-59 task dist
        61-63 function helper
        65-66 statement
        67-70 stage Build
        71-75 stage Test
    """,
    "haskell": """
        1-6 imports
        8-9 imports
        11-15 type Stack
        17-17 type Depth
        19-19 type Name
        21-25 class Sized
        27-29 class Sized Stack
        31-33 function push
        35-39 function pop
        41-44 function +++
        46-46 function limit
    """,
    "hcl": """
        1-8 terraform terraform
        10-12 provider aws
        14-23 variable region
        25-29 variable name
        31-33 data data.aws_ami.linux
        35-46 resource aws_s3_bucket.logs
        48-53 module network
        55-57 output bucket
        59-59 variable region
    """,
    "ini": """
        1-2 key root
        4-7 section server
        9-13 section flake8
        15-17 section remote "origin"
        19-24 section tool:pytest
        26-32 section Service
        34-36 section *.{js,py}
        38-38 section empty
        40-42 section flags
    """,
    "java": """
        1-4 imports
        6-7 imports
        9-16 class Ledger
        18-19 property Ledger.entries
        21-23 block Ledger
        25-27 constructor Ledger.Ledger
        29-36 method Ledger.book
        38-43 class Ledger.Page
        45-58 enum Ledger.Side
        60-62 interface Ledger.Audited
        64-67 interface Ledger.Listener
    """,
    "javascript": """
        1-1 statement
        3-4 imports
        6-9 constant TAX
        11-17 function add
        19-20 function round
        22-43 class Cart
        45-46 function view
        48-50 function clear
        52-54 method Cart.size
        56-57 statement
        58-61 method remove
        62-63 function twice
        65-72 test Cart
        74-77 function inner
        78-79 statement
    """,
    "jsonnet": """
        1-2 imports
        3-3 variable utils
        5-7 function title
        9-12 variable defaults
        14-14 code
        15-19 property _config
        21-25 function container
        27-27 variable own
        29-32 property deployment
        34-34 statement
        36-39 property service
        41-45 property alerts
        47-47 function format
        48-48 statement
    """,
    "just": """
        1-3 statement
        5-6 imports
        8-10 variable version
        12-14 target default
        16-16 target b
        18-24 target build
        26-27 target check
        29-30 target clean
        32-37 target test-all
        39-40 target report
        42-43 target _hidden
    """,
    "kdl": """
        1-9 section package
        11-18 section keybinds
        20-22 key theme
        24-30 section layout
    """,
    "kotlin": """
        1-1 imports
        3-3 imports
        5-6 imports
        8-9 constant MAX_DEPTH
        11-11 type Handler
        13-18 class Router
        20-22 block Router
        24-26 constructor Router.constructor
        28-29 property Router.size
        31-33 method Router.route
        35-38 class Router.Factory
        40-43 function Router.handle
        45-50 enum Method
        52-54 interface Node
        56-58 class Registry
        60-60 class Route
    """,
    "less": """
        1-3 imports
        5-6 variable @radius
        8-11 variable @detached
        13-16 mixin .rounded
        18-20 mixin .bordered
        22-26 rule #shapes
        28-42 rule .card
        44-46 rule .guard when (@mode = dark)
        48-50 rule @media @phone and (max-width: 600px)
        52-54 rule @keyframes ~"spin-@{name}"
    """,
    "lua": """
        1-3 constant M
        5-5 variable api
        7-11 variable M.config
        13-17 function M.setup
        19-21 function trim
        23-25 function H.open
        27-29 function M.close
        31-31 function add
        33-39 variable M.handlers
        41-41 statement
    """,
    "make": """
        1-2 imports
        4-7 variable CFLAGS
        9-9 statement
        11-12 target all
        14-18 variable CFLAGS
        20-26 macro say
        28-32 target program
        34-35 target build/%.o
        37-38 target docs
        40-42 target clean
        44-44 statement
        45-46 target $(OUT)/list.txt
        48-48 statement
    """,
    "nix": """
        1-2 statement
        4-6 property cfg
        8-9 function join
        11-28 property options.services.site
        30-36 property config
        38-50 function outputs
    """,
    "objc": """
        1-2 imports
        4-4 macro TICK
        6-6 statement
        8-11 enum Mode
        13-16 interface Clock
        18-25 class WallClock
        27-39 class WallClock
        41-43 class WallClock
        45-47 function seconds
    """,
    "php": """
        1-1 statement
        3-3 statement
        5-5 imports
        7-8 imports
        10-10 constant RETRIES
        12-17 class Mailer
        18-18 imports Mailer
        20-20 constant Mailer.LIMIT
        22-22 property Mailer.from
        24-26 constructor Mailer.__construct
        28-35 method Mailer.send
        37-42 method Mailer.create
        44-47 interface Sender
        49-52 trait Loggable
        54-63 enum Priority
        65-69 function shorten
        71-76 function dd
        77-78 statement
    """,
    "powershell": """
        1-7 statement
        9-11 variable Limit
        13-18 function Copy-One
        20-31 class Job
        33-36 enum Level
        38-38 function Get-Big
        40-40 statement
    """,
    "properties": """
        1-3 key server.port
        5-9 key pages.suffixes
        11-14 key colour.ground
        16-23 key empty.value
    """,
    "protobuf": """
        1-2 imports
        4-4 imports
        6-8 imports
        10-19 message Order
        21-26 enum Order.State
        28-30 message Order.Item
        32-34 message Order.Note
        35-38 message Order
        40-43 extension FieldOptions
        45-54 service Orders
        56-56 message GetRequest
    """,
    "python": """
        1-2 statement
        4-4 imports
        6-7 imports
        9-10 imports
        12-15 imports
        17-19 function dumps
        21-23 constant CAPACITY
        26-29 class Fruit
        31-32 class Fruit
        34-37 method Fruit.label
        39-41 method Fruit.grow
        43-45 class Fruit.Seed
        48-57 function pick
        60-60 function handler
        62-63 statement
    """,
    "ruby": """
        1-1 code
        3-4 imports
        6-8 module Garden
        10-13 class Garden.Bed
        15-18 constructor Garden.Bed.initialize
        20-24 method Garden.Bed.water!
        26-28 method Garden.Bed.empty
        30-34 method Garden.Bed.build
        36-40 method Garden.Bed.weed?
        42-44 class Garden.Bed
        46-46 method plant
        48-52 test Garden::Bed
    """,
    "rust": """
        1-3 statement
        5-6 imports
        8-9 constant CAPACITY
        11-11 constant GLOBAL
        13-19 struct Queue
        21-25 enum Error
        27-27 type Result
        29-35 trait Consumer
        37-46 class Queue
        48-54 class Queue
        56-60 macro queue
        62-71 module tests
        73-77 function spawned
    """,
    "scala": """
        1-2 imports
        4-4 imports
        6-9 trait Semigroup
        11-23 class Monoid
        25-32 class Monoid
        34-34 class Sum
        36-36 trait Shape
        37-37 class Circle
        39-43 class syntax
    """,
    "scss": """
        1-3 imports
        5-10 variable $sizes
        12-14 rule %reset
        16-21 function shade
        23-26 mixin raised
        28-38 rule .button, a.button:hover
        40-44 rule .button--#{$name}
        46-48 rule @media (min-width: #{$space * 100}) and (orientation: landscape)
        50-54 rule .toolbar
        56-59 rule @keyframes pulse
    """,
    "sql": """
        1-2 namespace shop
        4-8 table shop.customers
        10-10 statement customers_name
        12-16 view rich
        18-18 type mood
        20-24 function add_one
        26-27 statement
        29-29 statement
    """,
    "starlark": """
        1-1 statement
        3-4 imports
        6-10 constant SUFFIXES
        12-12 variable PageInfo
        14-21 function _page_impl
        23-28 function page
        30-32 function pages
        34-39 target server
        41-44 target pages_lib
        46-49 statement
        51-51 module site
        53-53 dependency rules_go
        55-56 variable go_sdk
    """,
    "swift": """
        1-2 imports
        4-5 variable maximumVolume
        7-7 type Completion
        9-13 class Player
        15-17 property Player.isEmpty
        19-21 constructor Player.init
        23-23 method Player.deinit
        25-30 method Player.play
        32-32 method Player.subscript
        34-40 enum Player.State
        42-44 class Player
        46-50 interface Playable
        52-54 struct Song
        56-60 function beep
        62-64 function +
    """,
    "tsx": """
        1-1 imports
        3-5 type Props
        7-13 component Panel
        15-18 component App
        20-24 component Legacy
    """,
    "typescript": """
        1-1 imports
        3-4 type Key
        6-9 enum Color
        11-17 interface Holder
        19-35 class Store
        37-41 namespace express
        43-50 namespace Util
        52-54 function createStore
        56-60 interface Window
    """,
    "vim": """
        1-6 variable g:loaded_site
        8-12 variable g:site_options
        14-18 function s:open
        20-22 function site#build
        24-29 function s:cache.start
        31-31 command SiteOpen
        32-32 command SiteBuild
        34-37 autocommands site
        39-39 statement
        41-46 function Render
        48-49 imports
    """,
    "zig": """
        1-2 imports
        3-3 constant Allocator
        5-6 constant limit
        8-24 struct Arena
        26-26 enum Mode
        28-31 struct Value
        33-41 function List
        43-43 variable counter
        45-48 test arena starts empty
        50-52 statement
    """,
}


def fixture(language: str) -> str:
    return (FIXTURES / f"{language}.txt").read_text(encoding="utf-8")


def test_every_language_of_the_table_has_a_fixture() -> None:
    assert {row.name for row in LANGUAGES} == set(EXPECTED)


@pytest.mark.row("C1")
@pytest.mark.parametrize("language", EXPECTED)
def test_each_symbol_is_a_chunk_with_its_comments_and_attributes(language: str) -> None:
    options = ChunkOptions(max_tokens=96, min_tokens=0)
    chunks = chunk(Document("fixture", fixture(language), language), options).chunks
    found = [f"{piece.start_line}-{piece.end_line} {piece.kind} {piece.symbol}".rstrip() for piece in chunks]
    assert found == [line.strip() for line in EXPECTED[language].strip().splitlines()]


@pytest.mark.parametrize("language", EXPECTED)
def test_windows_line_ends_give_the_same_symbols_and_lines(language: str) -> None:
    text = fixture(language)
    alone = ChunkOptions(min_tokens=0)
    plain = chunk(Document("fixture", text, language), alone)
    windows = chunk(Document("fixture", text.replace("\n", "\r\n"), language), alone)
    assert [(piece.start_line, piece.symbol, piece.kind) for piece in plain.chunks] == [
        (piece.start_line, piece.symbol, piece.kind) for piece in windows.chunks
    ]

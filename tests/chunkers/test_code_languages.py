"""Every language: which rows of its fixture make a chunk, and what the chunk is called."""

from pathlib import Path

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.languages.table import LANGUAGES
from cqm.chunkers.model import ChunkOptions, Document

FIXTURES = Path(__file__).parent / "fixtures" / "code"

# First and last line, kind and symbol of each chunk when nothing is packed and the limit is 96 tokens.
EXPECTED = {
    "ada": """
        1-3 imports
        5-5 module Shop.Orders
        7-8 constant Shop.Orders.Max_Tries
        10-10 enum Shop.Orders.Status
        12-12 type Shop.Orders.Id
        13-13 type Shop.Orders.Small
        15-19 struct Shop.Orders.Order
        21-21 type Shop.Orders.Handle
        23-23 exception Shop.Orders.Too_Little
        25-26 function Shop.Orders.Pay
        28-28 function Shop.Orders.Total
        30-30 function Shop.Orders."+"
        32-36 module Shop.Orders.Lists
        38-38 module Shop.Orders.Int_Vectors
        40-45 class Shop.Orders.Counter
        47-49 class Shop.Orders.Worker
        51-52 type Shop.Orders.Handle
        53-53 module Shop.Orders
        55-57 module Shop.Orders
        58-65 function Shop.Orders.Pay
        67-70 function Shop.Orders."+"
        72-82 class Shop.Orders.Counter
        84-89 class Shop.Orders.Worker
        91-94 function Main
    """,
    "bash": """
        1-3 statement
        5-6 constant TARGET
        8-12 function fail
        14-17 function build
        19-21 function late
        23-23 function ll
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
    "clojure": """
        1-4 module shop.orders
        6-7 variable max-tries
        9-9 variable cache
        11-11 variable *rate*
        13-18 function total
        20-21 function shout
        23-25 macro with-order
        27-30 interface Priced
        32-35 struct Line
        37-39 class Order
        41-43 extension String
        45-45 function pay
        47-48 method pay
        50-52 method pay
        54-54 variable ::id
        56-57 test totals-add-up
        59-60 statement
        62-63 function only-jvm
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
    "coffeescript": """
        1-5 statement
        7-25 class Order
        27-27 function double
        29-34 function retry
        36-38 class Shop
        40-41 function exports.shout
        43-45 statement
    """,
    "commonlisp": """
        1-4 module shop
        6-6 imports
        8-8 constant +max-tries+
        10-10 variable *cache*
        12-12 variable *rate*
        14-14 type id
        16-18 struct line
        20-23 class order
        25-26 exception too-little
        28-32 function total
        34-35 function pay
        37-38 method pay
        40-41 method pay
        43-45 macro with-order
        47-48 function (setf owner)
        50-51 function helper
        53-53 imports
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
    "crystal": """
        1-1 statement
        3-5 module Shop
        7-7 type Shop.Id
        9-12 class Shop.Order
        14-15 method Shop.Order.initialize
        17-24 method Shop.Order.total
        26-28 method Shop.Order.empty
        30-32 method Shop.Order.==
        34-36 method Shop.Order.secret?
        38-39 method Shop.Order.pay
        41-43 struct Shop.Line
        45-48 enum Shop.Status
        50-54 macro Shop.define
        56-58 function main
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
    "cuda": """
        1-2 imports
        4-4 macro THREADS
        6-8 variable weights
        10-14 function add
        16-27 function addKernel
        29-33 function scale
        35-44 struct Buffer
        46-53 namespace kernels
        55-61 function launch
    """,
    "d": """
        1-7 statement
        9-9 type Id
        11-14 class Order
        16-19 constructor Order.this
        21-21 constructor Order.~this
        23-34 method Order.total
        36-39 interface Priced
        41-44 struct Line
        46-50 enum Status
        52-55 function twice
        57-60 macro Sized
        62-65 function main
    """,
    "dart": """
        1-1 imports
        3-6 imports
        8-9 constant maxTries
        11-11 variable _cache
        13-14 type Listener
        16-23 class Order
        25-26 constructor Order.Order
        28-28 constructor Order.of
        30-32 constructor Order.fromJson
        34-34 property Order.total
        36-38 property Order.total
        40-40 method Order.operator ==
        42-46 method Order.pay
        48-49 method Order.cancel
        51-59 enum Status
        61-63 class Walks
        65-67 class OrderNames
        69-71 class Id
        73-80 function main
        82-82 property version
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
    "elm": """
        1-7 statement
        10-14 struct Order
        17-19 enum Status
        22-24 enum Msg
        27-34 function total
        37-39 function maxTries
        42-46 function view
        49-49 function save
    """,
    "emacslisp": """
        1-1 code
        3-4 code
        6-6 code
        8-10 imports
        12-14 variable shop
        16-18 variable shop-tries
        20-20 variable shop--cache
        22-22 constant shop-rate
        24-26 variable shop-total
        28-28 struct shop-line
        30-32 class shop-order
        34-39 function shop-total
        41-43 method shop-pay
        45-46 function shop-find
        48-50 macro shop-with
        52-52 function shop--empty
        54-56 function shop-mode
        58-58 function shop-list-mode
        60-60 function shop-sum
        62-63 code
    """,
    "erlang": """
        1-2 module shop_order
        3-3 imports
        5-8 imports
        10-11 macro MAX_TRIES
        13-17 struct order
        19-20 type order
        22-23 function pay
        25-25 statement
        27-30 function start_link
        32-42 function total
        44-44 statement
        45-45 imports
        47-50 function total_test
    """,
    "fortran": """
        1-2 module shop_orders
        3-4 imports shop_orders
        5-6 module shop_orders
        8-9 constant shop_orders.max_tries
        11-20 struct shop_orders.order
        22-24 constant shop_orders.red
        26-32 interface shop_orders.add
        34-38 function shop_orders.hook
        40-49 function shop_orders.pay_order
        51-62 function shop_orders.add_lines
        64-69 module details
        71-77 program main
    """,
    "fsharp": """
        1-1 namespace Shop.Orders
        3-4 imports Shop.Orders
        6-15 struct Shop.Orders.Order
        17-17 struct Shop.Orders.Line
        19-22 enum Shop.Orders.Status
        24-26 enum Shop.Orders.Color
        28-28 type Shop.Orders.Id
        30-32 interface Shop.Orders.IPriced
        34-34 exception Shop.Orders.TooLittle
        36-49 class Shop.Orders.Counter
        51-65 module Shop.Orders.Sums
        67-70 function Shop.Orders.main
    """,
    "gdscript": """
        1-2 class Order
        3-3 imports
        4-6 event paid
        8-8 enum Status
        10-11 constant MAX_TRIES
        13-17 property speed
        19-23 property total
        26-33 class Item
        36-38 constructor _init
        41-43 function _ready
        46-52 function sum_up
        55-56 function empty
    """,
    "gleam": """
        1-4 statement
        6-6 constant max_tries
        8-11 type Order
        13-16 type Status
        18-19 type Id
        21-26 function total
        28-33 function helper
        35-36 function now
        38-44 function pay
    """,
    "glsl": """
        1-3 imports
        5-5 macro MAX_LIGHTS
        6-6 macro SQUARE
        8-14 struct Light
        16-19 struct Camera
        21-26 variable position
        28-29 constant PI
        31-33 function shadow
        35-41 function shade
        43-45 function luminance
        47-50 function main
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
    "hlsl": """
        1-1 imports
        3-3 macro MAX_LIGHTS
        5-10 struct Camera
        12-19 variable Linear
        21-25 struct VSInput
        27-30 struct PSInput
        32-35 struct IShade
        37-43 function VSMain
        45-48 function PSMain
        50-54 function Scale
        56-57 function RayGen
        59-64 function CSMain
        66-72 namespace Basic
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
    "julia": """
        1-4 module Shop
        6-8 imports Shop
        10-10 imports Shop
        12-13 constant Shop.MAX_TRIES
        15-15 variable Shop.registry
        17-18 type Shop.Priced
        20-33 struct Shop.Order
        35-38 struct Shop.Line
        40-47 function Shop.total
        49-49 function Shop.area
        51-51 function Shop.Base.length
        53-55 function Shop.Base.show
        57-57 function Shop.+
        59-59 function Shop.Order
        61-67 macro Shop.retry
        69-71 function Shop.fast
        73-73 enum Shop.Status
        75-77 module Shop.Inner
        79-79 function Shop.hook
        81-85 test Shop.totals
    """,
    "just": """
        1-6 statement
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
    "matlab": """
        1-2 class Order
        3-3 class Order
        5-7 property Order.MaxTries
        9-12 class Order
        14-16 class Order
        18-20 class Order
        22-26 constructor Order.Order
        28-39 method Order.total
        41-44 property Order.Lines
        46-50 method Order.empty_order
        52-55 method Order.pay
        57-60 function double_it
        62-64 function say
    """,
    "nim": """
        1-2 statement
        4-4 constant MaxTries
        6-6 statement
        7-9 class Order
        11-12 enum Status
        14-14 variable cache
        16-21 function total
        23-23 function double
        25-26 function pay
        28-29 function `+`
        31-33 function each
        35-36 macro withOrder
        38-39 macro twice
        41-42 statement
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
    "ocaml": """
        1-4 imports
        6-7 variable max_tries
        9-9 type id
        11-17 type order
        19-19 type line
        21-24 type status
        26-26 exception Too_little
        28-28 function now
        30-34 function total
        36-36 function empty
        38-38 function +!
        40-40 variable first
        42-47 interface PRICED
        49-53 module Line
        55-57 module Make
        59-67 class counter
        69-71 statement
        73-73 test adds
    """,
    "odin": """
        1-4 statement
        6-6 constant MAX_TRIES
        8-12 struct Order
        14-17 enum Status
        19-22 struct Value
        24-31 function total
        33-36 function helper
        38-41 function add
        43-48 function main
    """,
    "openscad": """
        1-3 statement
        5-8 variable width
        10-16 function volume
        17-24 function box
        26-26 function lid
        28-28 statement
    """,
    "pascal": """
        1-1 module ShopOrders
        3-3 module ShopOrders
        5-8 imports ShopOrders
        10-12 constant ShopOrders.Rate
        14-15 enum ShopOrders.TStatus
        17-17 type ShopOrders.TId
        19-24 class ShopOrders.TOrder
        25-31 class ShopOrders.TOrder
        33-36 struct ShopOrders.TLine
        38-41 interface ShopOrders.IPriced
        43-44 variable ShopOrders.Cache
        46-46 function ShopOrders.Add
        48-51 imports ShopOrders
        53-57 function ShopOrders.Add
        59-63 constructor ShopOrders.TOrder.Create
        65-68 method ShopOrders.TOrder.Destroy
        70-79 method ShopOrders.TOrder.SetTotal
        81-88 method ShopOrders.TOrder.Pay
        90-91 module ShopOrders
        93-96 module ShopOrders
    """,
    "perl": """
        1-2 module Shop.Order
        4-7 imports
        9-10 constant Shop.Order.VERSION
        12-16 constant Shop.Order.OPEN
        18-21 property Shop.Order.name
        23-23 property Shop.Order.first
        25-44 function Shop.Order.total
        46-49 function Shop.Order.pay
        51-51 function Shop.Order._empty
        53-56 method Shop.Order.pay
        58-63 module Shop.Line
        65-67 statement
        69-69 statement
        71-75 statement
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
    "r": """
        1-4 imports
        6-6 constant MAX_TRIES
        8-15 function order_total
        17-21 function print.order
        23-23 function %+%
        25-25 function double
        27-27 function identity2
        29-32 variable settings
        34-34 class Order
        36-38 function pay
        40-44 method Order.pay
        46-62 class Cart
        63-64 method Cart.size
        66-68 function helper
        70-72 test totals add up
    """,
    "racket": """
        1-5 imports
        7-7 variable max-tries
        9-10 struct order
        12-15 function total
        17-19 function double
        21-23 function shout
        25-28 macro swap!
        30-32 macro with-order
        34-40 class counter%
        42-44 function typed-total
        46-46 variable first-one
        48-52 module test
        54-55 module main
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
    "scheme": """
        1-2 module shop.orders
        3-5 imports shop.orders
        6-7 variable shop.orders.max-tries
        9-14 function shop.orders.total
        16-20 struct shop.orders.<order>
        22-22 imports
        24-24 variable cache
        26-30 function double
        32-33 function curried
        35-39 macro while
        41-42 function guile-style
        44-44 variable first
        46-47 statement
        49-49 statement
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
    "solidity": """
        1-2 imports
        4-5 imports
        7-8 error TooLittle
        10-10 constant MAX_TRIES
        12-12 type Price
        14-17 struct Line
        19-23 interface IShop
        25-29 class Sums
        31-34 class Shop
        35-35 imports Shop
        37-40 enum Shop.Status
        42-43 class Shop
        45-45 event Shop.Closed
        47-51 method Shop.onlyOwner
        53-55 constructor Shop.constructor
        57-57 method Shop.receive
        59-61 method Shop.fallback
        63-66 method Shop.total
        68-69 method Shop._close
        71-73 function free
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
    "structuredtext": """
        1-6 class FB_Belt
        7-20 class FB_Belt
        21-28 method FB_Belt.Count
        30-34 property FB_Belt.Total
        36-39 method FB_Belt.Reset
        41-47 type E_State
        49-52 struct ST_Part
        53-53 statement
        55-60 function F_Twice
        62-65 interface I_Belt
        67-72 module MAIN
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
    "systemverilog": """
        1-2 imports
        3-4 macro MAX_TRIES
        6-26 module shop_pkg
        28-32 interface shop_if
        34-41 module order
        42-42 imports order
        44-46 constant order.Max
        48-48 module order
        50-53 module order
        55-57 function order.pay
        59-62 module order
        64-67 property order.p_total
        69-74 block order.gen_lines
        76-89 class packet
        91-93 method packet.show
    """,
    "tcl": """
        1-6 statement
        8-15 function total
        17-29 namespace shop
        31-41 class Order
        43-43 function shop.late
        45-45 statement
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
    "visualbasic": """
        1-3 statement
        5-8 namespace Shop.Orders
        9-11 class Shop.Orders.Order
        13-14 class Shop.Orders.Order
        16-16 property Shop.Orders.Order.Paid
        18-20 method Shop.Orders.Order.New
        22-22 property Shop.Orders.Order.Id
        24-28 property Shop.Orders.Order.Total
        30-37 method Shop.Orders.Order.Pay
        39-41 interface Shop.Orders.IPriced
        43-46 enum Shop.Orders.Status
        48-51 struct Shop.Orders.Line
        53-59 module Program
    """,
    "wgsl": """
        1-5 struct Light
        7-7 type Color
        9-10 constant PI
        12-13 variable light
        15-23 function shade
        25-29 function vs_main
        31-36 function cs_main
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

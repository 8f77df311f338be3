"""Style of a preview's page, in light, in dark and on paper."""

from cqm.server.page import COLOURS

STYLE = (
    COLOURS
    + """
:root { --b0: #e8f1fd; --e0: #2866c4; --b1: #eaf6ea; --e1: #2b7d3e; --b2: #fdf1e0; --e2: #9c5708;
  --b3: #f4ebfb; --e3: #8444b8; --b4: #e2f5f5; --e4: #0f7a80; --b5: #fdebef; --e5: #b83356; --on: #ffffff;
  --k: #7a2ea0; --s: #15683a; --f: #1d4fa8; --n: #9a4a00; --c: #5c6570; }
@media (prefers-color-scheme: dark) {
  :root { --b0: #1a2a42; --e0: #7fb0fa; --b1: #1a3022; --e1: #74c98a; --b2: #372a17; --e2: #e6ab5c;
    --b3: #2d2140; --e3: #c79af0; --b4: #133134; --e4: #5cc6cc; --b5: #3b1e29; --e5: #f291ac; --on: #14171b;
    --k: #d3a6f5; --s: #8fd6a0; --f: #8fbcff; --n: #f0b878; --c: #a5aeb9; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 48px; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 36px 24px 160px; }
main.wide { max-width: none; min-width: calc(var(--columns) * 380px + 104px); }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: anywhere; letter-spacing: -.01em; }
h2 { font-size: 15px; margin: 0 0 4px; }
p { margin: 0; } .dim { color: var(--dim); font-size: 13px; } .lead { margin: 0 0 20px; }
code, pre, td { font: 12.5px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "Noto Sans Mono CJK JP", monospace; }
a { color: var(--e0); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); gap: 16px;
  margin: 0 0 16px; }
.wide .cards, .wide .lead { max-width: calc(100vw - 48px); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 18px 20px; min-width: 0; }
.options { display: flex; flex-wrap: wrap; gap: 4px 6px; margin: 8px 0 14px; padding: 0; list-style: none; }
.options li { font: 12px/1.6 ui-monospace, Menlo, Consolas, monospace; background: var(--track); border-radius: 5px;
  padding: 1px 7px; overflow-wrap: anywhere; }
.figures { display: flex; flex-wrap: wrap; gap: 6px 26px; margin: 0 0 14px; }
.figures b { display: block; font-size: 20px; line-height: 1.3; font-weight: 600; font-variant-numeric: tabular-nums; }
.figures span { color: var(--dim); font-size: 12.5px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(250px, 100%), 1fr)); gap: 10px 32px; }
.strip { display: flex; align-items: flex-end; height: 72px; gap: 1px; border-bottom: 1px solid var(--line); }
.strip > * { flex: 1 1 0; min-width: 1px; background: var(--e, var(--bar)); border-radius: 2px 2px 0 0; }
.strip a { max-width: 26px; } .strip a:hover, .strip a:focus-visible { background: var(--text); }
.axis { display: flex; justify-content: space-between; font-variant-numeric: tabular-nums; }
.warnings { background: var(--note-bg); color: var(--note); border-radius: 10px; padding: 12px 20px; margin: 0 0 16px; }
.warnings ul { margin: 0; padding: 0 0 0 18px; }
.source { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 0 0 10px; }
.names { position: sticky; top: 0; z-index: 4; display: flex; background: var(--card); padding: 8px 0 8px 56px;
  border-bottom: 1px solid var(--line); border-radius: 10px 10px 0 0; }
.names b { flex: 1 1 0; font: 600 13px/1.5 system-ui, sans-serif; padding: 0 12px; min-width: 0;
  overflow-wrap: anywhere; }
.block { content-visibility: auto; contain-intrinsic-size: auto 4400px; position: relative; }
.block:hover, .block:focus-within { content-visibility: visible; z-index: 3; }
table { border-collapse: separate; border-spacing: 0; width: 100%; table-layout: fixed; }
col.n { width: 56px; }
td { padding: 0 12px; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 4; }
td i { font-style: normal; } i.k { color: var(--k); } i.s { color: var(--s); } i.f { color: var(--f); }
i.n { color: var(--n); } i.c { color: var(--c); }
td.n { color: var(--dim); text-align: right; padding: 0 12px 0 4px; user-select: none; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
td + td + td { border-left: 1px solid var(--line); }
td.c[class*=" t"], td.head[class*=" t"], .label { --in: 0px;
  background: linear-gradient(var(--card), var(--card)) 0 0 / var(--in) 100% no-repeat,
    linear-gradient(var(--e), var(--e)) var(--in) 0 / 3px 100% no-repeat,
    var(--fill, linear-gradient(var(--b), var(--b)));
  padding-left: calc(var(--in) + 14px); }
td.parts { padding-left: 14px; }
td.parts span { background: var(--fill, linear-gradient(var(--b, transparent), var(--b, transparent)));
  padding: 1px 0; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.d1 { --in: 18px !important; } .d2 { --in: 36px !important; }
.d3 { --in: 54px !important; } .d4 { --in: 72px !important; }
.r { --thin: color-mix(in srgb, var(--oe) 38%, var(--b));
  --fill: repeating-linear-gradient(-45deg, var(--b) 0 6px, var(--o) 6px 12px, var(--thin) 12px 13px); }
.mark { font: 600 11px/1.4 system-ui, sans-serif; background: var(--e); color: var(--on); border-radius: 4px;
  padding: 1px 5px; margin: 0 4px 0 2px; }
td.head { padding: 0 !important; white-space: normal; }
.label { position: relative; display: flex; flex-wrap: wrap; align-items: center; gap: 2px 10px; cursor: default;
  padding-top: 5px; padding-bottom: 5px; padding-right: 12px; font: 12.5px/1.5 system-ui, sans-serif;
  border-top: 1px solid var(--e); outline-offset: -2px; }
.label > b { background: var(--e); color: var(--on); border-radius: 5px; padding: 0 7px; font-weight: 600; }
.label strong { font: 600 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.label .kind { color: var(--e); font-weight: 600; } .label > span { white-space: nowrap; }
.size { margin-left: auto; font-variant-numeric: tabular-nums; }
.meter { display: inline-block; width: 64px; height: 6px; border-radius: 3px; background: var(--line);
  margin-right: 8px; vertical-align: middle; overflow: hidden; }
.meter i { display: block; height: 100%; background: var(--e); } .meter.over i { background: var(--over); }
.facts { display: none; position: absolute; z-index: 5; top: 100%; left: 14px; width: max-content;
  max-width: min(620px, calc(100vw - 90px)); max-height: 60vh; overflow-y: auto; margin: 0; padding: 14px 18px;
  background: var(--card); border: 1px solid var(--line); border-top: 3px solid var(--e);
  border-radius: 0 0 10px 10px; box-shadow: 0 10px 30px rgb(0 0 0 / .22); white-space: normal;
  grid-template-columns: auto minmax(0, 1fr); gap: 4px 16px; }
.label:hover > .facts, .label:focus > .facts, .label:focus-within > .facts { display: grid; }
.wide td:last-child .facts { left: auto; right: 12px; }
.facts dt { color: var(--dim); } .facts dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
.facts pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.facts small { color: var(--dim); font-size: 12px; }
.label:target { outline: 2px solid var(--e); }
:focus-visible { outline: 2px solid var(--e, var(--bar)); }
@media (max-width: 620px) { main { padding: 20px 10px 120px; } .card { padding: 14px; } col.n { width: 38px; }
  td.n { padding: 0 6px 0 2px; } .names { padding-left: 38px; } .meter { width: 40px; }
  .wide .cards, .wide .lead { max-width: calc(100vw - 20px); }
  main.wide { min-width: calc(var(--columns) * 300px + 58px); } }
@media print { body { background: none; } .block { content-visibility: visible; } .names { position: static; }
  .card, .label { break-inside: avoid; } .label { break-after: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
"""
    + "\n".join(
        f".t{n} {{ --b: var(--b{n}); --e: var(--e{n}); }} .r{n} {{ --o: var(--b{n}); --oe: var(--e{n}); }}"
        for n in range(6)
    )
)

"""Structured messages, as JSON or XML, name places by members: a file and a line."""

import json
import time

import pytest

from cqm.index.text.places import places_in

PLACE = ("src/app.py", 12)
TEXTS = {
    "SARIF": json.dumps(
        {
            "runs": [
                {
                    "results": [
                        {
                            "ruleId": "x",
                            "locations": [
                                {
                                    "physicalLocation": {
                                        "artifactLocation": {"uri": "src/app.py"},
                                        "region": {"startLine": 12},
                                        "contextRegion": {"startLine": 10},
                                    }
                                }
                            ],
                        }
                    ]
                }
            ]
        },
        indent=1,
    ),
    "ESLint": '[{"filePath":"src/app.py","messages":[{"ruleId":"x","message":"it\'s {bad}","line":12,"endLine":12}]}]',
    "golangci": '{"Issues":[{"Text":"bad","Pos":{"Filename":"src/app.py","Offset":1,"Line":12,"Column":5}}]}',
    "cargo, with another span first": (
        '{"spans":[{"file_name":"src/b.rs","is_primary":false,"line_start":3,"line_end":3},'
        '{"file_name":"src/app.py","is_primary":true,"line_start":12,"line_end":12}]}'
    ),
    "a line before its file": (
        '[{"code":"F401","end_location":{"row":13},"filename":"src/app.py","location":{"column":8,"row":12}}]'
    ),
    "the language server protocol counts from 0": (
        '{"uri":"src/app.py","range":{"start":{"line":11,"character":4},"end":{"line":11,"character":9}}}'
    ),
    "the name of a member": '{"files":{"src/app.py":{"errors":1,"messages":[{"message":"m","line":12}]}}}',
    "lines that begin": '[{"location":{"path":"src/app.py","lines":{"begin":12,"end":12}}}]',
    "a log of Go": '{"level":"ERROR","source":{"function":"main.run","file":"src/app.py","line":12},"msg":"failed"}',
    "dots in names": '{"log.origin.file.name":"src/app.py","log.origin.file.line":"12"}',
    "JSON in JSON": json.dumps({"log": json.dumps({"source": {"file": "src/app.py", "line": 12}}), "stream": "err"}),
    "cut": '[{"filePath":"src/app.py","messages":[{"ruleId":"x","line":12,"column":5,"mess',
    "Python's form": "{'path': 'src/app.py', 'lineno': 12}",
    "Go's form": "&{Filename:src/app.py Offset:12 Line:12 Column:5}",
    "Ruby's form": '{:file=>"src/app.py", :line=>12}',
    "a log of words": 'time=2024-01-01 level=error file=src/app.py line=12 msg="it failed"',
    "lines of words": "An error occurred\nFile: src/app.py\nLine: 12\nMessage: none",
    "Checkstyle": (
        '<checkstyle>\n<file name="src/app.py">\n<error line="12" column="5" message="a &lt;b&gt; c" source="a.b.C"/>\n'
        "</file></checkstyle>"
    ),
    "PMD": '<file name="src/app.py">\n<violation beginline="12" endline="12" rule="X">bad</violation></file>',
    "SpotBugs": '<SourceLine classname="a.App" start="12" end="12" sourcefile="app.py" sourcepath="src/app.py"/>',
    "elements": "<frame><fn>x</fn><file>src/app.py</file><line>12</line></frame>",
    "Azure": "##vso[task.logissue type=error;sourcepath=src/app.py;linenumber=12;columnnumber=5;]it is bad",
    "TeamCity": "##teamcity[inspection typeId='x' message='bad' file='src/app.py' line='12']",
}


@pytest.mark.parametrize("tool", TEXTS)
def test_members_with_a_file_and_a_line_name_a_place(tool: str) -> None:
    assert places_in(TEXTS[tool])[0][:2] == PLACE


def test_each_message_names_its_own_file() -> None:
    text = json.dumps([{"filePath": f"src/{n}.ts", "messages": [{"line": n}, {"line": n + 1}]} for n in (3, 7)])
    assert [it[:2] for it in places_in(text)] == [("src/3.ts", 3), ("src/3.ts", 4), ("src/7.ts", 7), ("src/7.ts", 8)]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "x", "version": "1.2.3", "line": 3}',
        '{"files": ["a.py", "b.py"], "count": 3, "line": 2}',
        "start: 12, line: 3",
        '<a name="top" line="3">',
        '{"path": "src/app.py", "online": 3, "lines": 12}',
    ],
)
def test_members_without_a_file_or_a_line_name_no_place(text: str) -> None:
    assert places_in(text) == []


@pytest.mark.parametrize(
    "part", ['"', '{"file":"a.go","line":1,', '{"line":1,"a":', '<a b="', '<a b="c" ', '\\"', '{\\"line\\":1', "[", "}"]
)
def test_a_structured_text_made_to_take_long_takes_no_longer(part: str) -> None:
    before = time.process_time()
    places_in(f'{part * (100_000 // len(part))} "file": "a.go", "line": 3')
    assert time.process_time() - before < 2  # seconds; it takes a tenth of one

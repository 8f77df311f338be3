#!/bin/sh
# Run the MCP inspector's command line and the official conformance suite, both revisions, against a real `cqm serve`.
# Usage: tests/conformance/run.sh [CQM]     Needs npm; NODE_TOOLS names a folder that keeps what npm installs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cqm=${1:-cqm}
command -v npm > /dev/null || { echo "npm is not installed: nothing was run" >&2; exit 2; }
work=$(mktemp -d)
server=
trap 'test -z "$server" || kill "$server"; rm -rf "$work"' EXIT INT TERM

tools=${NODE_TOOLS:-$work/node}
npm install --silent --no-audit --no-fund --prefix "$tools" \
    node@22 @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12
PATH=$tools/node_modules/.bin:$PATH

mkdir "$work/project"
printf 'def limit_retries(attempts):\n    return attempts < 5\n' > "$work/project/limits.py"
export CQM_INDEX_HOME="$work/indexes"

# inspect EXPECTED ARGUMENT...: the reply of the inspector's command line has to contain what is expected.
inspect() {
    expected=$1
    shift
    reply=$(mcp-inspector --cli -e "CQM_INDEX_HOME=$CQM_INDEX_HOME" "$cqm" serve --root "$work/project" "$@")
    case $reply in
        *"$expected"*) echo "inspector $*: ok" ;;
        *) echo "inspector $*: no '$expected' in: $reply" >&2; exit 1 ;;
    esac
}
for tool in search usages outline read changes index_path chunk_preview index_status; do
    inspect "\"name\": \"$tool\"" --method tools/list --strict
done
inspect '1 added' --method tools/call --tool-name index_path
inspect 'limits.py:1-2' --method tools/call --tool-name search --tool-arg query=limit_retries
inspect '1 definition' --method tools/call --tool-name usages --tool-arg name=limit_retries
inspect 'limits.py: 1 symbol' --method tools/call --tool-name outline --tool-arg path=limits.py
inspect 'of 2 lines' --method tools/call --tool-name read --tool-arg what=limit_retries
inspect 'limit_retries' --method tools/call --tool-name chunk_preview --tool-arg path=limits.py
inspect '1 indexed' --method tools/call --tool-name index_status

CQM_HTTP_TOKEN=none "$cqm" serve --http 127.0.0.1:0 --root "$work/project" 2> "$work/log" &
server=$!
tries=0
until url=$(sed -n 's/^CQM serves //p' "$work/log") && test -n "$url"; do
    tries=$((tries + 1))
    test "$tries" -lt 300 || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
done
for revision in 2025-11-25 2026-07-28; do
    conformance server --url "$url" --requirements "$revision" \
        --expected-failures "$here/baseline-$revision.yml" --output-dir "$work/results" > "$work/report" 2>&1 \
        || { cat "$work/report" >&2; echo "conformance $revision: failed" >&2; exit 1; }
    echo "conformance $revision: ok, $(grep -c '^  ~' "$work/report") expected failures; $(grep '^Total' "$work/report")"
done

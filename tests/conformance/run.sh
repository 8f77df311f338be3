#!/bin/sh
# Run the official conformance suite, both revisions, and the MCP inspector's command line against a real `cqm serve`.
# Usage: tests/conformance/run.sh [suite | inspector | all] [CQM]
# Needs npm, once its registry too; NODE_TOOLS names a folder that keeps what npm installs. Exit code 2: nothing was run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
what=${1:-all}
cqm=${2:-cqm}
SUITE=@modelcontextprotocol/conformance@0.2.0-alpha.12
INSPECTOR=@modelcontextprotocol/inspector@2.12.0
command -v npm > /dev/null || { echo "conformance: npm is not installed: nothing was run" >&2; exit 2; }
work=$(mktemp -d)
server=
trap 'test -z "$server" || { kill "$server"; wait "$server" || true; }; rm -rf "$work"' EXIT INT TERM

tools=${NODE_TOOLS:-$work/node}
wanted=$SUITE
test "$what" = suite || wanted="$INSPECTOR $SUITE"
# Both need Node 22.
node -e "process.exit(Number(parseInt(process.versions.node) < 22))" > "$work/version" 2>&1 || wanted="node@22 $wanted"
if ! grep -qxF "$wanted" "$tools/installed" 2> "$work/none"; then
    # shellcheck disable=SC2086 # one word a package
    npm install --silent --no-audit --no-fund --fetch-retries=1 --fetch-timeout=15000 --prefix "$tools" $wanted \
        > "$work/npm" 2>&1 || {
        cat "$work/npm" >&2
        echo "conformance: npm could not bring $wanted: nothing was run" >&2
        exit 2
    }
    echo "$wanted" > "$tools/installed"
fi
PATH=$tools/node_modules/.bin:$PATH

mkdir "$work/project"
printf 'def limit_retries(attempts):\n    return attempts < 5\n' > "$work/project/limits.py"
git -C "$work/project" init -q
git -C "$work/project" add .
git -C "$work/project" -c user.name=a -c user.email=a@example.invalid -c commit.gpgsign=false commit -q -m 'Limit retries'
# No owner: it would outlive the server, and write into the folder while that is removed.
export CQM_INDEX_HOME="$work/indexes" CQM_INDEX_SHARED=false

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
if test "$what" != suite; then
    for tool in search usages outline read changes index_path chunk_preview index_status; do
        inspect "\"name\": \"$tool\"" --method tools/list --strict
    done
    inspect '1 added' --method tools/call --tool-name index_path
    inspect 'limits.py:1-2' --method tools/call --tool-name search --tool-arg query=limit_retries
    inspect '1 definition' --method tools/call --tool-name usages --tool-arg name=limit_retries
    inspect 'limits.py: 1 symbol' --method tools/call --tool-name outline --tool-arg path=limits.py
    inspect 'of 2 lines' --method tools/call --tool-name read --tool-arg what=limit_retries
    inspect 'limits.py:1-2' --method tools/call --tool-name changes --tool-arg 'what=limit retries'
    inspect 'limit_retries' --method tools/call --tool-name chunk_preview --tool-arg path=limits.py
    inspect '1 indexed' --method tools/call --tool-name index_status
fi
test "$what" != inspector || exit 0

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
        --expected-failures "$here/baseline-$revision.yml" --output-dir "$work/$revision" > "$work/report" 2>&1 \
        || { cat "$work/report" >&2; echo "conformance $revision: failed" >&2; exit 1; }
    "${PYTHON:-python3}" "$here/told.py" "$work/$revision" "$here/vacuous-$revision.txt"
done

#!/bin/sh
# Runs the tests in each environment, continues after a failure, and ends with a line for each.
#
#   sh tools/run_tests.sh JOBS "ARGUMENTS OF PYTEST" INTERPRETER...
set -u
jobs=$1 arguments=$2
shift 2
failed=0
report=
for python in "$@"; do
    versions=$("$python" -c 'import platform, tensorflow; print(
        f"Python {platform.python_version()}, TensorFlow {tensorflow.__version__}")' 2>/dev/null) ||
        versions="$python: TensorFlow cannot be imported"
    echo "== Tests on $versions"
    # Words in ARGS are separate arguments.
    # shellcheck disable=SC2086
    if "$python" -m pytest -n "$jobs" --dist=worksteal $arguments; then
        outcome=passed
    else
        outcome=FAILED
        failed=1
    fi
    report="$report  $outcome  $versions
"
done
printf '== Result\n%s' "$report"
exit $failed

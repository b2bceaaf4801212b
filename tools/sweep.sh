#!/bin/sh
# Starts albert.sweep for a suite of tasks, from any folder and from a clean checkout.
#
#   sh tools/sweep.sh glue|clue [FLAGS]
#
# The interpreter is $PYTHON if it has what is needed; else that of .venv/tf2, the faster runtime, if
# `make` has made it; else that of the environment which is made now.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
suite=$1
shift
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-3}"

is_ready() {
    "$1" -c 'import importlib.util, sys
needed = "tensorflow", "tensorflow_hub", "sentencepiece", "sklearn", "matplotlib"
sys.exit(not all(map(importlib.util.find_spec, needed)))' 2>/dev/null
}

if [ -n "${PYTHON:-}" ] && is_ready "$PYTHON"; then
    python=$PYTHON
elif [ -z "${PYTHON:-}" ] && is_ready "$root/.venv/tf2/bin/python"; then
    python=$root/.venv/tf2/bin/python
else
    python=$(sh "$root/tools/environments.sh" first)
    python=$root/$python
fi
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"
exec "$python" -m albert.sweep --suite="$suite" "$@"

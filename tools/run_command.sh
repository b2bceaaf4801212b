#!/bin/sh
# Runs a command of the package, from any folder and from a clean checkout.
#
#   sh tools/run_command.sh COMMAND [ARGUMENTS]
#
# The interpreter is $PYTHON, or else the active one, if it can import the package; else that of an
# environment that `make` has completed; else that of an environment that is made now.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-3}"
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

can_run='import albert, importlib.util, sys
needed = ("tensorflow", "tensorflow_hub", "sentencepiece")
sys.exit(not all(map(importlib.util.find_spec, needed)))'

# The first of the interpreters that can.
ready_one() {
    for candidate in "$@"; do
        if "$candidate" -c "$can_run" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

if [ -n "${PYTHON:-}" ]; then
    python=$(ready_one "$PYTHON")
else
    python=$(ready_one python python3)
fi
if [ -z "$python" ]; then
    [ -n "${PYTHON:-}" ] || ready=$(sh "$root/tools/environments.sh" ready)
    [ -z "${ready:-}" ] || python=$(ready_one "$root/$ready")
    [ -n "$python" ] || python=$root/$(sh "$root/tools/environments.sh" first)
fi
exec "$python" -m albert "$@"

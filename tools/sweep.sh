#!/bin/sh
# Starts albert.sweep for a suite of tasks, from any folder and from a clean checkout.
#
#   sh tools/sweep.sh glue|clue [FLAGS]
#
# The interpreter is $PYTHON, or else the active one, if it can import the package; else that of an
# environment that `make` has completed; else that of an environment that is made now. --help needs
# none: a test checks that sweep_help.txt has every flag.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
suite=$1
shift
export TF_CPP_MIN_LOG_LEVEL="${TF_CPP_MIN_LOG_LEVEL:-3}"
export PYTHONPATH="$root${PYTHONPATH:+:$PYTHONPATH}"

for argument in "$@"; do
    case "$argument" in
        -h | -\? | -help | --help | -helpshort | --helpshort | -helpfull | --helpfull)
            echo "sh run_$suite.sh [FLAGS], with --suite=$suite"
            echo
            exec cat "$root/tools/sweep_help.txt"
            ;;
    esac
done

can_run='import albert.sweep, importlib.util, sys
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
exec "$python" -m albert.sweep --suite="$suite" "$@"

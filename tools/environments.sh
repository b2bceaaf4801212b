#!/bin/sh
# Makes the virtual environments that `make demo` and `make test` run in.
#
#   sh tools/environments.sh first    the first supported Python found, 3.7 before the others
#   sh tools/environments.sh all      one environment for each runtime that a Python is found for
#   sh tools/environments.sh ready    the one of the complete environments with the faster runtime, if
#                                     there is one; makes and installs nothing
#   sh tools/environments.sh huggingface   the one with PyTorch and transformers, which compares
#                                          converted models with theirs
#
# prints the environments' interpreters, one a line, relative to the repository; what it does goes to
# stderr. There is one environment for each runtime:
#
#   .venv/tf1   Python 3.7                TensorFlow 1.15.5
#   .venv/tf2   Python 3.11, 3.10 or 3.9  TensorFlow 2.15.1
#
# and .venv/huggingface (Python 3.10 to 3.13) without any.
#
# PYTHON=/path/to/python chooses the interpreter and with it the runtime. An environment is complete
# when its stamp names the checksum of the requirements; one without is completed by pip, and one whose
# interpreter does not run any more is made anew.
set -eu
cd "$(dirname "$0")/.."

SUPPORTED="Python 3.7 (runs TensorFlow 1.15.5) or Python 3.9, 3.10, 3.11 (run TensorFlow 2.15.1)"

say() { echo "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

# The version (3.7) of a Python that runs and can make virtual environments; nothing for others, such
# as pyenv's shims of versions that are not selected.
version_of() {
    "$1" -c 'import ensurepip, sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

# TensorFlow 1.15.5 was built for 64-bit Intel processors only.
runtime_of() {
    case "$(version_of "$1")" in
        3.7) "$1" -c 'import platform, sys; sys.exit(platform.machine().lower() not in ("x86_64", "amd64"))' && echo tf1 ;;
        3.9 | 3.10 | 3.11) echo tf2 ;;
    esac
}

versions_of_runtime() {
    case "$1" in
        tf1) echo 3.7 ;;
        tf2) echo 3.11 3.10 3.9 ;;
        huggingface) echo 3.11 3.12 3.10 3.13 ;;
    esac
}

requirements_of() {
    case "$1" in
        huggingface) echo requirements-huggingface.txt ;;
        *) echo requirements.txt requirements-dev.txt ;;
    esac
}

# Whether the interpreter $2 can run the runtime $1; PyTorch runs on any.
fits() {
    [ "$1" = huggingface ] || [ "$(runtime_of "$2")" = "$1" ]
}

# Prints the best interpreter for a runtime: on PATH by its version's name, under ~/.pyenv, then
# whatever `python3` and `python` are.
find_python() {
    for version in $(versions_of_runtime "$1"); do
        for candidate in "python$version" "${HOME:-}/.pyenv/versions/$version".*/bin/python python3 python; do
            if [ "$(version_of "$candidate")" = "$version" ] && fits "$1" "$candidate"; then
                command -v "$candidate"
                return
            fi
        done
    done
}

checksum() { cat $(requirements_of "$1") | cksum; }

is_complete() { [ "$(cat ".venv/$1/complete" 2>/dev/null)" = "$(checksum "$1")" ]; }

# Makes or completes .venv/$1 with the interpreter $2 (empty: the one found, or the one it has) and
# prints its interpreter; prints nothing when there is none for it.
prepare() {
    runtime=$1 python=$2
    environment=.venv/$runtime
    installed=$(version_of "$environment/bin/python")
    "$environment/bin/python" -c 'import pip' 2>/dev/null || installed=
    if [ -n "$python" ] && [ "$installed" != "$(version_of "$python")" ]; then
        installed=
    fi
    if [ -z "$installed" ]; then
        [ -n "$python" ] || python=$(find_python "$runtime")
        [ -n "$python" ] || return 0
        say "Making $environment with $python (Python $(version_of "$python"))"
        "$python" -m venv --clear "$environment" >&2 || fail "$python could not make $environment."
    fi
    if ! is_complete "$runtime"; then
        say "Installing $(requirements_of "$runtime") into $environment (a minute or two the first time)"
        install_requirements "$environment" "$(requirements_of "$runtime")"
        checksum "$runtime" >"$environment/complete"
    fi
    say "$runtime: $environment, Python $(version_of "$environment/bin/python")"
    echo "$environment/bin/python"
}

# Older pips do not know the wheels' platform names. Modules are compiled when they are first
# imported: most never are. Of what pip reports, the packages' names are shown, as progress; all of
# it is in pip.log, whose end is shown when pip fails.
install_requirements() {
    python=$1/bin/python requirements=$2 log=$1/pip.log
    "$python" -m pip install --quiet --disable-pip-version-check --no-compile "pip>=20.3" >&2 ||
        fail "pip could not be upgraded in $1. The next run continues from here."
    {
        "$python" -m pip install --disable-pip-version-check --progress-bar off --no-compile \
            $(printf -- '-r %s ' $requirements) 2>&1 && echo "pip: done" || echo "pip: failed"
    } | tee "$log" | awk -v place="${1#.venv/}" '
        /^Collecting / {
            sub(/[<>=!~;[].*/, "", $2)
            line = line " " $2
            if (length(line) > 80) { print "  " place ":" line; fflush(); line = "" }
        }
        END { print "  " place ":" line; exit $0 != "pip: done" }
    ' >&2 || {
        tail -n 20 "$log" >&2
        fail "pip could not install $requirements (its output is in $log). The next run continues from here."
    }
}

wanted=${1:-}
case "$wanted" in
    first | all) ;;
    ready)
        for runtime in tf2 tf1; do
            if is_complete "$runtime" && [ -n "$(version_of ".venv/$runtime/bin/python")" ]; then
                echo ".venv/$runtime/bin/python"
                exit
            fi
        done
        exit
        ;;
    huggingface)
        interpreter=$(prepare huggingface "${PYTHON:-}")
        [ -n "$interpreter" ] || fail "No Python from 3.10 to 3.13 found, which transformers needs."
        echo "$interpreter"
        exit
        ;;
    *) fail "Unknown choice '$wanted'. Use: sh tools/environments.sh first|all|ready|huggingface" ;;
esac

if [ -n "${PYTHON:-}" ]; then
    runtime=$(runtime_of "$PYTHON")
    [ -n "$runtime" ] || fail "PYTHON=$PYTHON cannot be used ($("$PYTHON" --version 2>&1 || true))." \
        "Needed: $SUPPORTED, with the modules venv and ensurepip."
    prepare "$runtime" "$PYTHON"
    exit
fi

found=
if [ "$wanted" = first ]; then
    for runtime in tf1 tf2; do
        found=$(prepare "$runtime" "")
        [ -z "$found" ] || break
    done
else
    # Both at the same time: each is minutes of unpacking by one processor.
    answer=$(mktemp)
    prepare tf1 "" >"$answer" &
    first=$!
    # What runs in the background does not hear the keyboard, and pip is a child of it.
    trap 'rm -f "$answer"; pkill -TERM -P "$first" 2>/dev/null || :; kill "$first" 2>/dev/null || :' EXIT
    trap 'exit 130' INT TERM
    second=$(prepare tf2 "") || fail "The environment for TensorFlow 2.15 could not be made."
    wait "$first" || fail "The environment for TensorFlow 1.15 could not be made."
    trap 'rm -f "$answer"' EXIT
    found=$(cat "$answer" && echo "$second")
fi
[ -n "$found" ] || fail "No supported Python found on PATH or under ~/.pyenv/versions." \
    "Install $SUPPORTED, with the modules venv and ensurepip" \
    "(Debian: apt-get install python3-venv; any system: pyenv install 3.11)," \
    "or name one: make ... PYTHON=/path/to/python"
echo "$found"

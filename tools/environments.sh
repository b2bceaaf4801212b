#!/bin/sh
# Makes the virtual environments that `make demo` and `make test` run in.
#
#   sh tools/environments.sh first    one environment to run in: the fastest runtime that a Python is found
#                                     for, with what the scripts and the demo need and no more
#   sh tools/environments.sh all      one environment for each runtime that a Python is found for, with
#                                     Apache Beam and the tools of the tests
#   sh tools/environments.sh ready    the fastest of the environments that are complete, if there is one;
#                                     makes and installs nothing
#   sh tools/environments.sh huggingface    the one with PyTorch and transformers, which compares
#                                           converted models with theirs
#   sh tools/environments.sh huggingface4   the same with transformers 4, and with Optimum
#
# prints the environments' interpreters, one a line, relative to the repository; what it does goes to
# stderr. There is one environment for each runtime, the fastest first:
#
#   .venv/latest   Python 3.13, 3.12, 3.11 or 3.10   the newest TensorFlow (2.16 or later)
#   .venv/tf2      Python 3.11, 3.10 or 3.9          TensorFlow 2.15.1
#   .venv/tf1      Python 3.7                        TensorFlow 1.15.5
#
# and .venv/huggingface and .venv/huggingface4 (Python 3.10 to 3.13) without any. Where no such Python is
# found and uv is installed, uv gets one.
#
# PYTHON=/path/to/python chooses the interpreter; RUNTIME=latest, tf2 or tf1 the runtime. An environment
# is complete when its stamp names the checksum of the requirements; one without is completed by pip, and
# one whose interpreter does not run any more is made anew.
set -eu
cd "$(dirname "$0")/.."

RUNTIMES="latest tf2 tf1"

say() { echo "$*" >&2; }

fail() {
    say "ERROR: $*"
    exit 1
}

# The version (3.7) of a Python that runs and can make virtual environments; nothing for others, such
# as pyenv's shims of versions that are not selected.
version_of() {
    "$1" -c 'import sys, venv; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true
}

versions_of_runtime() {
    case "$1" in
        latest) echo 3.13 3.12 3.11 3.10 ;;
        tf2) echo 3.11 3.10 3.9 ;;
        tf1) echo 3.7 ;;
        huggingface*) echo 3.11 3.12 3.10 3.13 ;;
    esac
}

# The Pythons of the runtimes that are wanted, in words.
supported() {
    listed=
    for runtime in $RUNTIMES; do
        listed="$listed${listed:+ or }$(versions_of_runtime "$runtime" | sed 's/ /, /g') (RUNTIME=$runtime)"
    done
    echo "Python $listed"
}

# Whether the interpreter $2 can run the runtime $1. TensorFlow 1.15.5 was built for 64-bit Intel
# processors only.
fits() {
    version=$(version_of "$2")
    for supported in $(versions_of_runtime "$1"); do
        [ "$version" = "$supported" ] || continue
        [ "$1" != tf1 ] ||
            "$2" -c 'import platform, sys; sys.exit(platform.machine().lower() not in ("x86_64", "amd64"))'
        return
    done
    return 1
}

# Prints requirements.txt with the extras that are named.
with_extras() {
    awk -v wanted=" $* " '/^# extra: / { left_out = !index(wanted, " " $3 " ") } !left_out' requirements.txt
}

# The requirements of a runtime ($1) for a purpose ($2: run or test), as one file's lines.
requirements_of() {
    case "$1 $2" in
        # Versions 4.44 to 4.50 read the bias of masked words in their own way.
        huggingface4*)
            sed 's/^transformers==.*/transformers==4.49.*/' requirements-huggingface.txt
            echo "optimum[onnxruntime]>=2"
            ;;
        huggingface*) cat requirements-huggingface.txt ;;
        *run) with_extras plots ;;
        *test) with_extras plots beam spark parquet onnx && cat requirements-dev.txt ;;
    esac
    case "$1" in
        # The last TensorFlow with tf.estimator, and the last tensorflow-hub with hub.Module: the tests
        # compare with it.
        tf2) echo "tensorflow==2.15.1" && echo "tensorflow-hub<0.16" ;;
        latest) echo "tensorflow>=2.16" ;;
    esac
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

checksum() { requirements_of "$1" "$2" | cksum; }

# Whether .venv/$1 has what the purpose $2 needs; what the tests need is enough for all.
is_complete() {
    stamp=$(cat ".venv/$1/complete" 2>/dev/null) || return 1
    [ "$stamp" = "$(checksum "$1" "$2")" ] || [ "$stamp" = "$(checksum "$1" test)" ]
}

# Makes or completes .venv/$1 for the purpose $2 with the interpreter $3 (empty: the one found, or the
# one it has) and prints its interpreter; prints nothing when there is none for it.
prepare() {
    runtime=$1 purpose=$2 python=$3
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
        make_environment "$environment" "$python"
    fi
    if ! is_complete "$runtime" "$purpose"; then
        case "$purpose" in test) users=tests ;; *) users=scripts ;; esac
        say "Installing into $environment what the $users need (a minute or two the first time)"
        requirements_of "$runtime" "$purpose" >"$environment/requirements.txt"
        install_requirements "$environment"
        checksum "$runtime" "$purpose" >"$environment/complete"
    fi
    say "$runtime: $environment, Python $(version_of "$environment/bin/python")"
    echo "$environment/bin/python"
}

# Debian's Python has no ensurepip, from which others install pip.
make_environment() {
    if "$2" -c "import ensurepip" 2>/dev/null; then
        "$2" -m venv --clear "$1" >&2 || fail "$2 could not make $1."
        return
    fi
    "$2" -m venv --clear --without-pip "$1" >&2 && "$1/bin/python" tools/install_pip.py >&2 ||
        fail "$2 could not make $1 with pip in it. Install what makes virtual environments" \
            "(Debian, Ubuntu: apt-get install python3-venv) and run the same command again."
}

# Older pips do not know the wheels' platform names. Of what pip reports, the packages' names are shown,
# as progress; all of it is in pip.log, whose end is shown when pip fails. Then all processors compile the
# modules, which pip does with one: where PYTHONDONTWRITEBYTECODE is set, each process would otherwise
# compile TensorFlow's again. Some packages have modules for other Pythons, which do not compile.
install_requirements() {
    python=$1/bin/python log=$1/pip.log
    "$python" -m pip install --quiet --disable-pip-version-check "pip>=20.3" >&2 ||
        fail "pip could not be upgraded in $1. The next run continues from here."
    {
        "$python" -m pip install --disable-pip-version-check --progress-bar off --no-compile \
            -r "$1/requirements.txt" 2>&1 && echo "pip: done" || echo "pip: failed"
    } | tee "$log" | awk -v place="${1#.venv/}" '
        /^Collecting / {
            sub(/[<>=!~;[].*/, "", $2)
            line = line " " $2
            if (length(line) > 80) { print "  " place ":" line; fflush(); line = "" }
        }
        END { print "  " place ":" line; exit $0 != "pip: done" }
    ' >&2 || {
        tail -n 20 "$log" >&2
        fail "pip could not install what $1/requirements.txt lists (its output is in $log)." \
            "The next run continues from here."
    }
    "$python" -m compileall -q -j 0 "$1/lib" >/dev/null 2>&1 || :
}

# Prints a Python of this version that uv gets, if uv is there. It keeps those in a place of its own; no
# other program's change.
python_of_uv() {
    command -v uv >/dev/null || return 0
    say "No Python found that can be used; uv gets Python $1."
    uv python install "$1" >&2 && uv python find --managed-python "$1"
}

wanted=${1:-}
case "$wanted" in
    first | all) ;;
    ready)
        for runtime in $RUNTIMES; do
            if is_complete "$runtime" run && [ -n "$(version_of ".venv/$runtime/bin/python")" ]; then
                echo ".venv/$runtime/bin/python"
                exit
            fi
        done
        exit
        ;;
    huggingface | huggingface4)
        interpreter=$(prepare "$wanted" run "${PYTHON:-}")
        [ -n "$interpreter" ] || fail "No Python from 3.10 to 3.13 found, which transformers needs."
        echo "$interpreter"
        exit
        ;;
    *) fail "Unknown choice '$wanted'. Use: sh tools/environments.sh first|all|ready|huggingface|huggingface4" ;;
esac
purpose=run
[ "$wanted" = first ] || purpose=test

RUNTIMES=${RUNTIME:-$RUNTIMES}
for runtime in $RUNTIMES; do
    [ -n "$(versions_of_runtime "$runtime")" ] || fail "RUNTIME=$runtime is unknown. Use latest, tf2 or tf1."
done
if [ -n "${PYTHON:-}" ]; then
    fitting=
    for runtime in $RUNTIMES; do
        ! fits "$runtime" "$PYTHON" || fitting="$fitting $runtime"
    done
    [ -n "$fitting" ] || fail "PYTHON=$PYTHON cannot be used ($("$PYTHON" --version 2>&1 || true))." \
        "Needed: $(supported), with the module venv."
    RUNTIMES=$fitting
elif [ -z "$(for runtime in $RUNTIMES; do version_of ".venv/$runtime/bin/python"; find_python "$runtime"; done)" ]; then
    version=$(versions_of_runtime "${RUNTIMES%% *}")
    version=${version%% *}
    PYTHON=$(python_of_uv "$version" || :)
    [ -n "$PYTHON" ] || fail "No Python was found on PATH or under ~/.pyenv/versions that can be used" \
        "(python3 is $(python3 --version 2>&1 || echo "not there")). Install $(supported), with the module venv" \
        "(Debian, Ubuntu: apt-get install python3-venv; any system: pyenv install $version, or uv, which then gets" \
        "a Python by itself), or name one: make ... PYTHON=/path/to/python"
    RUNTIMES=${RUNTIMES%% *}
fi

if [ "$wanted" = first ]; then
    for runtime in $RUNTIMES; do
        found=$(prepare "$runtime" "$purpose" "${PYTHON:-}")
        [ -z "$found" ] || break
    done
    echo "$found"
    exit
fi
# All at the same time: each is minutes of unpacking by one processor.
answers=$(mktemp -d)
# What runs in the background does not hear the keyboard, and pip is a child of it.
stop() {
    for one in $running; do
        pkill -TERM -P "$one" 2>/dev/null || :
        kill "$one" 2>/dev/null || :
    done
    rm -rf "$answers"
}
running=
trap stop EXIT
trap 'exit 130' INT TERM
for runtime in $RUNTIMES; do
    prepare "$runtime" "$purpose" "${PYTHON:-}" >"$answers/$runtime" &
    running="$running $!"
done
for one in $running; do
    wait "$one" || fail "An environment could not be made."
done
running=
for runtime in $RUNTIMES; do cat "$answers/$runtime"; done

#!/bin/sh
# Starts albert.sweep for a suite of tasks, from any folder and from a clean checkout.
#
#   sh tools/sweep.sh glue|clue [FLAGS]
#
# --help needs no interpreter: a test checks that sweep_help.txt has every flag.
set -eu
tools=$(dirname "$0")
suite=$1
shift

for argument in "$@"; do
    case "$argument" in
        -h | -\? | -help | --help | -helpshort | --helpshort | -helpfull | --helpfull)
            echo "sh run_$suite.sh [FLAGS], with --suite=$suite"
            echo
            exec cat "$tools/sweep_help.txt"
            ;;
    esac
done
exec sh "$tools/run_module.sh" albert.sweep --suite="$suite" "$@"

#!/bin/sh
# Fine-tunes a model on Chinese tasks (CLUE, LCQMC, XNLI, ...) and writes a table of the results. Each
# setting is a flag or an environment variable: see `sh run_clue.sh --help`.
#
#   DATA_DIR=clue MODEL_DIR=albert_base_zh OUTPUT_DIR=output/clue sh run_clue.sh
#   sh run_clue.sh --data_dir=clue --model_dir=albert_base_zh --output_dir=output/clue \
#       --tasks=afqmc,tnews --seeds=1-3
#
# To resume, run the same command again. The hyper-parameters are in
# albert/tasks/classification/task_table.py.

# The script may be a link; macOS before 12.3 has no readlink -f.
self=$(readlink -f "$0" 2>/dev/null) || self=$0
exec sh "$(dirname "$self")/tools/run_command.sh" sweep --suite=clue "$@"

#!/bin/sh
# Fine-tunes a model on Chinese tasks (CLUE, LCQMC, XNLI, ...) and makes a table of the results. Every
# setting is an environment variable or a flag; `sh run_clue.sh --help` lists them.
#
#   DATA_DIR=clue MODEL_DIR=albert_base_zh OUTPUT_DIR=output/clue sh run_clue.sh
#   sh run_clue.sh --data_dir=clue --model_dir=albert_base_zh --output_dir=output/clue \
#       --tasks=afqmc,tnews --seeds=1-3
#
# Started again, it leaves out what is finished. The hyper-parameters are declared with the tasks in
# albert/classification/task_table.py.

# The script may be a link; macOS before 12.3 has no readlink -f.
self=$(readlink -f "$0" 2>/dev/null) || self=$0
exec sh "$(dirname "$self")/tools/run_module.sh" albert.sweep --suite=clue "$@"

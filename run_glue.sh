#!/bin/sh
# Fine-tunes a model on GLUE and writes a table of the results. Each setting is a flag or an environment
# variable: see `sh run_glue.sh --help`.
#
#   DATA_DIR=glue MODEL_DIR=albert_base_v2 OUTPUT_DIR=output/glue sh run_glue.sh
#   sh run_glue.sh --data_dir=glue --model_dir=albert_base_v2 --output_dir=output/glue \
#       --tasks=rte,mrpc --seeds=1-5 --precision=bfloat16
#
# To resume, run the same command again. The hyper-parameters are those of the public run_glue.sh. They
# are in albert/tasks/classification/task_table.py:
#
#   task    warm-up  learning rate   steps  batch      task    warm-up  learning rate   steps  batch
#   SST-2      1256           1e-5   20935     32      QQP        1000           5e-5   14000    128
#   MNLI       1000           3e-5   10000    128      RTE         200           3e-5     800     32
#   CoLA        320           1e-5    5336     16      STS-B       214           2e-5    3598     16
#   QNLI       1986           1e-5   33112     32      MRPC        200           2e-5     800     32

# The script may be a link; macOS before 12.3 has no readlink -f.
self=$(readlink -f "$0" 2>/dev/null) || self=$0
exec sh "$(dirname "$self")/tools/run_command.sh" sweep --suite=glue "$@"

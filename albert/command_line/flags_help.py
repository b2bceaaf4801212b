# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What --help shows of a script's flags: by group, with defaults and bounds."""

from typing import Sequence

from absl import flags

_OWN = "This script"  # what no other group has
_GROUPS = {
    "What to do": "direction do_train do_eval do_predict list dry_run",
    "Data": "suite tasks task_name data_dir input_dir input_file input_file_mode text_field "
    "columns text text_a text_b eval_file train_file dev_file test_file predict_file task_file "
    "text_a_column text_b_column label_column guid_column header labels max_seq_length "
    "max_query_length max_qa_length doc_stride max_misaligned_answers high_only middle_only "
    "padding cached_dir train_feature_file predict_feature_file predict_feature_left_file "
    "split_sentences language user_dictionary dupe_factor short_seq_prob random_next_sentence "
    "random_seed shuffle_window_mb",
    "Masking": "masked_lm_prob masked_lm_budget max_predictions_per_seq do_whole_word_mask "
    "word_start ngram favor_shorter_ngram do_permutation",
    "Model": "name model_dir albert_directory albert_dir albert_config_file init_checkpoint "
    "albert_hub_module_handle share_type init_from_group0 checkpoint_name config_name "
    "spm_model_name spm_vocab_name vocab_file spm_model_file do_lower_case keep_accents",
    _OWN: "",
    "Output": "output_dir output_file output_format pooling layer count json export_dir "
    "threshold_to_export export_path format quantize model_prefix num_shards work_dir overwrite",
    "Training": "task num_labels batch train_batch_size train_step num_train_steps "
    "num_train_epochs warmup_step num_warmup_steps start_warmup_step warmup_proportion optimizer "
    "learning_rate weight_decay_rate adam_beta_1 adam_beta_2 adam_epsilon max_grad_norm poly_power "
    "layerwise_lr_decay dropout_prob seed seeds run_flags",
    "Evaluation and prediction": "checkpoint eval_batch_size predict_batch_size max_eval_steps "
    "eval_examples max_loss eval_untrained metric metrics wait_for_checkpoints_minutes "
    "max_answer_length n_best_size "
    "start_n_top end_n_top null_score_diff_threshold",
    "Checkpoints": "save_checkpoints_steps save_checkpoints_minutes keep_checkpoint_max "
    "num_keep_checkpoint",
    "Memory and speed": "memory_gb runtime_gb precision recompute use_xla "
    "gradient_accumulation_steps num_processes",
    "Distribution": "distribution_strategy num_devices worker_patience_seconds master",
    "TPU": "use_tpu tpu_name tpu_zone gcp_project num_tpu_cores iterations_per_loop",
    "Log": "log_steps verbose",
    "This command line": "config",
}


def text(flag_values: flags.FlagValues, names: Sequence[str]) -> str:
    """Returns what --help shows of the flags `names`, by group."""
    groups = {
        group: [name for name in members.split() if name in names]
        for group, members in _GROUPS.items()
    }
    grouped = {name for members in groups.values() for name in members}
    groups[_OWN] = [name for name in names if name not in grouped]
    lines = []
    for group, members in groups.items():
        if members:
            lines.append(f"\n{group}:")
        for name in members:
            flag = flag_values[name]
            start = f"--[no]{name}" if flag.boolean else f"--{name}"
            default = "" if flag.default is None else f"default: {flag.default_as_str}"
            notes = "; ".join(filter(None, [flag.parser.syntactic_help, default]))
            line = f"{start}: {flag.help} ({notes})" if notes else f"{start}: {flag.help}"
            lines.append(flags.text_wrap(line, indent="      ", firstline_indent="  "))
    return "\n".join(lines)

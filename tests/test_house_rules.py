# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The rules that keep the code readable, checked on the source itself."""

import ast
import io
import pathlib
import re
import tokenize
from typing import Dict, Iterator, List, NamedTuple, Tuple

ROOT = pathlib.Path(__file__).resolve().parents[1]
LICENCE = "# Copyright 2026 The albert Authors.\n# SPDX-License-Identifier: Apache-2.0\n"
LONGEST_FUNCTION = 60
DEEPEST_NESTING = 3
MOST_POSITIONAL = 3

# Which module may import which: the same layer or one further down, and flags only from scripts.
LAYERS = (
    (
        "foundation",
        "archives checkpoint_files checkpoint_names configs distribution downloads example_batches"
        " files fused_ops huggingface_process huggingface_tokenizer lamb_optimizer layers metrics"
        " many_files modeling optimization"
        " peer_watch precision progress random_streams report squad_metrics sweep_table tables"
        " sentence_splitting text_blocks text_documents text_lines text_ranges tokenization"
        " folder_lock machine_rates model_size stop_signals training_plan"
        " vocab_trainer word_segmentation worker_pool",
    ),
    (
        "machinery",
        "beam_files beam_runs checkpoint_conversion checkpoint_evaluator checkpoint_init"
        " distributed_run estimator_utils feature_cache fine_tuning_flow fine_tuning_runs"
        " fine_tuning_utils"
        " huggingface_files input_pipeline model_cache model_vocabulary padded_batches"
        " pretrained_model record_damage record_index record_shuffle released_models run_summary"
        " sharded_outputs training_graph",
    ),
    (
        "tasks",
        "albert_zh_conversion classifier_features classifier_predictions classifier_run"
        " classifier_tasks classifier_utils conversion_check conversion_folders demo_corpus"
        " demo_findings dynamic_masking fine_tuned_classifier"
        " hub_export hub_module_tf2 huggingface_conversion labelled_examples"
        " ngram_masking predictor pretraining_data pretraining_pipeline"
        " pretraining_utils race_examples race_features race_run race_utils segment_pairs"
        " serving_export"
        " squad_alignment squad_decoding squad_examples squad_export squad_features squad_heads"
        " squad_run squad_utils squad_windows text_encoder"
        " task_table task_types",
    ),
    ("flags", "flags_lib"),
    (
        "scripts",
        "convert_checkpoint create_pretraining_data create_pretraining_data_beam demo"
        " demo_finetuning demo_pretraining demo_runs demo_tour download_model embed"
        " export_checkpoints export_to_tfhub fill_mask plan predict pretraining_flags"
        " run_classifier run_pretraining run_race run_squad_v1 run_squad_v2 squad_flags sweep"
        " sweep_plan text_encoder_flags train_vocab",
    ),
)
LAYER_OF = {module: level for level, (_, names) in enumerate(LAYERS) for module in names.split()}
FLAGS_LAYER, SCRIPTS_LAYER = 3, 4

# Signatures that existing user code calls with positional arguments.
FROZEN_SIGNATURES = frozenset(
    {
        "classifier_utils.create_model",
        "classifier_utils.model_fn_builder",
        "classifier_utils.file_based_input_fn_builder",
        "classifier_utils.input_fn_builder",
        "fine_tuning_utils.create_albert",
        "fine_tuning_utils.create_vocab",
        "create_pretraining_data.TrainingInstance.__init__",
        "create_pretraining_data.create_training_instances",
        "create_pretraining_data.create_instances_from_document",
        "create_pretraining_data.create_masked_lm_predictions",
        "create_pretraining_data.write_instance_to_example_files",
        "create_pretraining_data.truncate_seq_pair",
        "fine_tuning_utils.build_model_fn.model_fn",
        "modeling.AlbertConfig.__init__",
        "modeling.AlbertModel.__init__",
        "modeling.get_masked_lm_output",
        "modeling.get_timing_signal_1d_given_position",
        "modeling.embedding_lookup",
        "modeling.embedding_postprocessor",
        "modeling.dense_layer_2d",
        "modeling.dense_layer_3d",
        "modeling.dense_layer_3d_proj",
        "modeling.dot_product_attention",
        "modeling.attention_layer",
        "modeling.attention_ffn_block",
        "modeling.transformer_model",
        "optimization.create_optimizer",
        # TPUEstimator calls it by these names.
        "pretraining_utils.build_model_fn.model_fn",
        "optimization.AdamWeightDecayOptimizer.__init__",
        "optimization.LAMBOptimizer.__init__",
        "run_pretraining.get_masked_lm_output",
        "run_pretraining.model_fn_builder",
        "run_pretraining.input_fn_builder",
        "classifier_features.InputFeatures.__init__",
        "race_examples.InputExample.__init__",
        "race_features.convert_single_example",
        "race_features.file_based_convert_examples_to_features",
        "race_utils.RaceProcessor.__init__",
        "race_utils.create_model",
        "race_utils.file_based_input_fn_builder",
        "race_utils.model_fn_builder",
        "classifier_features.convert_examples_to_features",
        "classifier_features.convert_single_example",
        "classifier_features.file_based_convert_examples_to_features",
        "labelled_examples.InputExample.__init__",
        "squad_examples.SquadExample.__init__",
        "squad_features.InputFeatures.__init__",
        "squad_features.convert_examples_to_features",
        "squad_utils.input_fn_builder",
        "squad_utils.create_v1_model",
        "squad_utils.create_v2_model",
        "squad_utils.v1_model_fn_builder",
        "squad_utils.v2_model_fn_builder",
        "squad_utils.accumulate_predictions_v1",
        "squad_utils.write_predictions_v1",
        "squad_utils.accumulate_predictions_v2",
        "squad_utils.write_predictions_v2",
        "squad_utils.evaluate_v2",
        "squad_utils.apply_no_ans_threshold",
        "squad_utils.find_best_thresh",
        "squad_utils.find_all_best_thresh",
        "tokenization.encode_pieces",
        "tokenization.encode_ids",
        "tokenization.FullTokenizer.__init__",
    }
)


def python_files(*folders: str) -> List[pathlib.Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


PACKAGE = python_files("albert")
CODE = python_files("albert", "benchmarks", "tests") + [ROOT / "setup.py"]
PROGRAM = python_files("albert", "benchmarks")


def name_of(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


def source_of(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8")


def tree_of(path: pathlib.Path) -> ast.Module:
    return ast.parse(source_of(path))


def functions_in(tree: ast.AST, prefix: str = "") -> Iterator[Tuple[str, ast.AST]]:
    """Yields (qualified name, node) of every function below `tree`, methods as Class.method."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + node.name, node
            yield from functions_in(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.ClassDef):
            yield from functions_in(node, f"{prefix}{node.name}.")
        else:
            yield from functions_in(node, prefix)


class FunctionLength(NamedTuple):
    name: str
    line: int
    lines: int


def function_lengths(source: str) -> List[FunctionLength]:
    """Returns name, first line and number of lines of every function.

    Counted on tokens, since Python 3.7's syntax tree does not know where a function ends.
    """
    lengths, open_functions = [], []
    depth, last_line, pending = 0, 0, None
    tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    for position, token in enumerate(tokens):
        if token.type == tokenize.NAME and token.string == "def":
            pending = (tokens[position + 1].string, token.start[0])
        elif token.type == tokenize.INDENT:
            depth += 1
            if pending:
                open_functions.append((depth, pending))
                pending = None
        elif token.type == tokenize.DEDENT:
            if open_functions and open_functions[-1][0] == depth:
                _, (name, line) = open_functions.pop()
                lengths.append(FunctionLength(name, line, last_line - line + 1))
            depth -= 1
        elif token.type not in (tokenize.NL, tokenize.COMMENT, tokenize.NEWLINE):
            last_line = token.end[0]
    return lengths


BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try)


def nesting_of(node: ast.AST, depth: int = 0) -> int:
    """Returns how many blocks deep a function goes; inner ones count for themselves."""
    deepest = depth
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deeper = depth + (isinstance(child, BLOCKS) and not is_elif)
        deepest = max(deepest, nesting_of(child, deeper))
    return deepest


def positional_parameters(node: ast.AST, is_method: bool) -> int:
    is_static = any(getattr(item, "id", "") == "staticmethod" for item in node.decorator_list)
    return len(node.args.args) - (is_method and not is_static)


def is_public(qualified_name: str) -> bool:
    return not any(part.startswith("_") for part in qualified_name.split("."))


def test_functions_have_at_most_sixty_lines():
    long = [
        f"{name_of(path)}:{function.line} {function.name} has {function.lines} lines"
        for path in CODE
        for function in function_lengths(source_of(path))
        if function.lines > LONGEST_FUNCTION
    ]
    assert not long, "\n".join(long)


def test_blocks_nest_at_most_three_deep():
    deep = [
        f"{name_of(path)}:{node.lineno} {name} nests {nesting_of(node)} deep"
        for path in CODE
        for name, node in functions_in(tree_of(path))
        if nesting_of(node) > DEEPEST_NESTING
    ]
    assert not deep, "\n".join(deep)


def test_parameters_from_the_fourth_on_are_keyword_only():
    many = []
    for path in PROGRAM:
        tree = tree_of(path)
        methods = {
            id(child)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for child in node.body
        }
        for name, node in functions_in(tree):
            count = positional_parameters(node, id(node) in methods)
            if count > MOST_POSITIONAL and f"{path.stem}.{name}" not in FROZEN_SIGNATURES:
                many.append(
                    f"{name_of(path)}:{node.lineno} {name} takes {count} positional parameters"
                )
    assert not many, "\n".join(many)


def test_public_functions_and_classes_have_docstrings():
    bare = []
    for path in PACKAGE:
        tree = tree_of(path)
        classes = [(node.name, node) for node in tree.body if isinstance(node, ast.ClassDef)]
        in_functions = {
            id(inner) for _, node in functions_in(tree) for _, inner in functions_in(node)
        }
        for name, node in list(functions_in(tree)) + classes:
            if is_public(name) and id(node) not in in_functions and not ast.get_docstring(node):
                bare.append(f"{name_of(path)}:{node.lineno} {name}")
    assert not bare, "\n".join(bare)


def test_files_begin_with_the_licence_and_a_docstring():
    filled = [path for path in CODE if source_of(path)]
    assert [name_of(path) for path in filled if not source_of(path).startswith(LICENCE)] == []
    assert [name_of(path) for path in filled if not ast.get_docstring(tree_of(path))] == []


def test_nothing_is_taken_from_tf_contrib():
    # The name is put together so that this file does not find itself.
    contrib = "tf" + ".contrib"
    assert [name_of(path) for path in CODE if contrib in source_of(path)] == []


def test_only_flags_lib_touches_the_global_flags():
    touched = [
        f"{name_of(path)}:{node.lineno}"
        for path in PROGRAM
        if path.stem != "flags_lib"
        for node in ast.walk(tree_of(path))
        if "FLAGS" in (getattr(node, "id", None), getattr(node, "attr", None))
    ]
    assert touched == []


def test_errors_are_never_swallowed():
    swallowed = [
        f"{name_of(path)}:{handler.lineno}"
        for path in CODE
        for handler in ast.walk(tree_of(path))
        if isinstance(handler, ast.ExceptHandler)
        and (handler.type is None or all(isinstance(item, ast.Pass) for item in handler.body))
    ]
    assert swallowed == []


def test_no_reminder_is_left_in_the_code():
    reminder = re.compile("|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]))
    left = [
        f"{name_of(path)}:{number}"
        for path in CODE
        for number, line in enumerate(source_of(path).splitlines(), start=1)
        if reminder.search(line)
    ]
    assert left == []


def module_of(path: pathlib.Path) -> str:
    return path.relative_to(ROOT / "albert").parts[0].replace(".py", "")


def imports_of(path: pathlib.Path) -> Dict[str, int]:
    """Returns the package's modules that the file imports, with the line where it does."""
    imported = {}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module == "albert":
            imported.update({alias.name: node.lineno for alias in node.names})
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("albert."):
            imported[node.module.split(".")[1]] = node.lineno
        elif isinstance(node, ast.Import):
            inner = [alias.name for alias in node.names if alias.name.startswith("albert.")]
            imported.update({name.split(".")[1]: node.lineno for name in inner})
    imported.pop("__version__", None)
    return imported


def test_every_module_has_its_layer():
    modules = {module_of(path) for path in PACKAGE}
    assert modules - {"__init__"} <= set(LAYER_OF), "name the new module's layer in LAYERS"


def test_imports_point_down_only():
    upward = []
    for path in PACKAGE:
        layer = LAYER_OF.get(module_of(path), SCRIPTS_LAYER)
        for name, line in imports_of(path).items():
            imported = LAYER_OF.get(name, SCRIPTS_LAYER)
            is_flags_of_a_library = imported == FLAGS_LAYER and layer != SCRIPTS_LAYER
            if imported > layer or is_flags_of_a_library:
                upward.append(f"{name_of(path)}:{line} imports {name}")
    assert not upward, "\n".join(upward)


def test_syntax_is_that_of_python_3_7():
    # On Python 3.7 itself, parsing suffices. Later ones are asked to refuse what came after.
    later = []
    for path in CODE:
        for node in ast.walk(tree_of(path)):
            if type(node).__name__ in ("NamedExpr", "Match", "TryStar"):
                later.append(f"{name_of(path)}:{node.lineno} {type(node).__name__}")
            if isinstance(node, ast.arguments) and getattr(node, "posonlyargs", None):
                later.append(
                    f"{name_of(path)}:{node.posonlyargs[0].lineno} positional-only parameters"
                )
    assert not later, "\n".join(later)


def test_the_folder_of_reference_outputs_is_named_only_by_tests():
    named = "../" + "shared"
    files = PROGRAM + [ROOT / "setup.py", ROOT / "Makefile"]
    files += [
        *sorted(ROOT.glob("*.md")),
        *sorted(ROOT.glob("*.txt")),
        *sorted((ROOT / "tools").glob("*")),
    ]
    files += sorted((ROOT / "docs").rglob("*.md"))
    assert [name_of(path) for path in files if named in source_of(path)] == []


def test_the_checks_themselves_find_what_they_look_for():
    source = (
        "def outer(a, b):\n"
        "    def inner():\n"
        "        return 1\n"
        "\n"
        "    text = '''\n"
        "    '''\n"
        "    if a:\n"
        "        pass\n"
        "    elif b:\n"
        "        for c in b:\n"
        "            with c:\n"
        "                print(c)\n"
        "    return inner\n"
        "\n\n"
        "# A comment that belongs to nobody.\n"
        "AFTER = 1\n"
    )
    assert function_lengths(source) == [
        FunctionLength("inner", 2, 2),
        FunctionLength("outer", 1, 13),
    ]
    (name, outer), (inner_name, _) = functions_in(ast.parse(source))
    assert (name, inner_name, nesting_of(outer)) == ("outer", "outer.inner", 3)
    assert positional_parameters(outer, False) == 2

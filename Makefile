# `make demo` and `make test` need nothing but a Python; see tools/environments.sh.
#
#   PYTHON=/path/to/python   use this interpreter (3.7, or 3.9 to 3.13)
#   RUNTIME=tf1              use this runtime: latest (the newest TensorFlow), tf2 (2.15) or tf1 (1.15)
#   ARGS="..."               further arguments of the demo, of the speedrun or of pytest (--slow: the slow tests too)
#                            or words that choose faults
#   JOBS=2                   test processes
#   MINUTES=10               length of `make fuzz`

.DEFAULT_GOAL := help
.PHONY: help demo test mutations fuzz speedrun lint format clean
export PYTHON RUNTIME
JOBS ?= 2
MINUTES ?= 10
LINTED = __init__.py albert benchmarks tests tools setup.py

help:
	@echo "make demo    train a small ALBERT on made-up stories, and write a report page"
	@echo "             (ARGS=--help: options, ARGS='--language zh': in Chinese)"
	@echo "make test    run the quick tests on each runtime (TensorFlow 1.15, 2.15 and the newest) whose Python"
	@echo "             is installed (ARGS=--slow: all tests)"
	@echo "make mutations  put bugs into copies of the code, and count how many the quick tests find"
	@echo "             (ARGS='mask dropout': only bugs whose name has one of these words)"
	@echo "make fuzz    read files that are changed at random, for MINUTES=10 (ARGS='conll json': only files"
	@echo "             whose name has one of these words)"
	@echo "make speedrun   measure the processor time to reach an accuracy of masked words (ARGS=--help: options)"
	@echo "make lint    check format, style and types"
	@echo "make format  rewrite the code in the project's format"
	@echo "make clean   remove the virtual environments and caches of these commands"
	@echo "Variables: PYTHON=/path/to/python, RUNTIME=latest, tf2 or tf1, JOBS=number of test processes,"
	@echo "             ARGS='options of the demo or of pytest'"

demo:
	@python=$$(sh tools/environments.sh first) && exec $$python -m albert demo $(ARGS)

test:
	@environments=$$(sh tools/environments.sh all) && sh tools/run_tests.sh $(JOBS) "$(ARGS)" $$environments

# On the first runtime found, which is the fastest.
mutations:
	@environments=$$(sh tools/environments.sh all) && set -- $$environments && \
	  exec $$1 -m tests.support.mutations --jobs $(JOBS) $(ARGS)

fuzz:
	@environments=$$(sh tools/environments.sh all) && set -- $$environments && \
	  exec $$1 -m tests.support.fuzz --minutes $(MINUTES) $(ARGS)

speedrun:
	@environments=$$(sh tools/environments.sh all) && set -- $$environments && \
	  exec $$1 benchmarks/speedrun.py $(ARGS)

# On the first runtime found: the type checker does not run on Python 3.7.
lint:
	@environments=$$(sh tools/environments.sh all) && set -- $$environments && python=$$1 && \
	  $$python -m ruff format --check $(wildcard $(LINTED)) && $$python -m ruff check $(wildcard $(LINTED)) && \
	  if [ "$$($$python -c 'import sys; print(sys.version_info >= (3, 9))')" = True ]; then \
	    $$python -m mypy; \
	  else echo "Types are checked on Python 3.9 and newer only."; fi

format:
	@environments=$$(sh tools/environments.sh all) && set -- $$environments && python=$$1 && \
	  $$python -m ruff format $(wildcard $(LINTED)) && $$python -m ruff check --fix $(wildcard $(LINTED))

clean:
	rm -rf .venv/latest .venv/tf2 .venv/tf1 .venv/huggingface .venv/huggingface4 .pytest_cache .ruff_cache .mypy_cache
	find albert benchmarks tests -name __pycache__ -type d -prune -exec rm -rf {} +
	-rmdir .venv 2>/dev/null

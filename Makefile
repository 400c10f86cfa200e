# The commands of the project. Each, alone, takes a fresh machine with git, make and python3 to a result.
#
#   make build       the program build/graft, the package importable in .venv
#   make demo        the main job on the built-in samples
#   make test        every test; the last line is "N passed, N failed"
#   make format      rewrites the sources in the project's format;  make check-format  says whether they are
#   make test-long   the long checks: sanitizers, the whole standard library through the parser, ...
#   make soak        fuzzers and endurance runs, 10 minutes each
#   make bench       benchmarks, each beside a rival in the same run
#   make device-bundle   a folder that runs on a machine with glibc and libstdc++ only

PYTHON ?= python3
VENV_PYTHON := .venv/bin/python
# Compilations at once; each takes up to a gigabyte of memory.
JOBS ?= $(shell nproc)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export GRAFT_PROGRAM := $(CURDIR)/build/graft

.DEFAULT_GOAL := build
.PHONY: setup build build-tests demo test test-long soak bench format check-format device-bundle wheel clean

setup:
	@$(PYTHON) scripts/setup.py

build: setup
	@$(VENV_PYTHON) scripts/build.py

build-tests: setup
	@$(VENV_PYTHON) scripts/build.py --tests

demo: build
	@$(VENV_PYTHON) scripts/demo.py

test: build-tests
	@$(VENV_PYTHON) scripts/run_tests.py

test-long: build-tests
	@$(VENV_PYTHON) scripts/run_tests.py --long

soak: setup
	@$(VENV_PYTHON) scripts/soak.py

bench: build
	@$(VENV_PYTHON) scripts/bench.py

format: setup
	@$(VENV_PYTHON) scripts/format.py

check-format: setup
	@$(VENV_PYTHON) scripts/format.py --check

device-bundle: build
	@$(VENV_PYTHON) scripts/device_bundle.py

wheel: build
	@$(VENV_PYTHON) -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w dist .

clean:
	rm -rf build .venv dist graft_results

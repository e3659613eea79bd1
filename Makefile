# The two main commands are `make book` and `make test`. Both install all that they need, and can be repeated.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Number of notebooks to run at once; 0: one per core, fewer if memory is short.
CORES ?= 0
# A folder of notebooks such as green, a notebook or an exhibit, to build only its pages.
ONLY ?=
# Number or name of the lab that `make lab` opens.
N ?= 1
# Options of `make lock`: --upgrade, or --upgrade-package NAME.
UPGRADE ?=

# Allow Python to store compiled modules, since sixty notebooks import the same ones.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help book labs lab test open full lint format lock sbom clean
.DELETE_ON_ERROR:

help: ## list these commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# If the installation was interrupted, $(READY) is missing, and the environment is created anew.
$(READY): requirements.lock workflow/torch.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 13) else \
	  "Python 3.11 or 3.12 is needed, this is %d.%d: run make PYTHON=/path/to/python3.11" % v)'
	@test -f $@ || { echo "Setting up $(VENV) (a minute, once)"; $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python workflow/install.py
	@touch $@

# Packages that only developers or labs need are installed when they are first needed.
$(VENV)/.%: workflow/%.lock $(READY)
	$(BIN)/python workflow/install.py $*
	@touch $@

book: $(READY) ## run every notebook and render the book (profile embedded)
	@workflow/fetch_pyodide
	@$(BIN)/radbook build --profile embedded --cores $(CORES) $(if $(ONLY),--only $(ONLY))

open: $(READY) ## the same with public data; needs RADEVAL_DATA_ROOT
	@workflow/fetch_pyodide
	@$(BIN)/radbook build --profile open --cores $(CORES) $(if $(ONLY),--only $(ONLY))

full: $(READY) ## the same with the papers' settings; needs credentials and a GPU, see book/reproduce.md
	@$(BIN)/radbook build --profile full --cores $(CORES) $(if $(ONLY),--only $(ONLY))

labs: $(VENV)/.labs ## build all labs: notebooks for students and solved, autograder, slides and quiz
	@$(BIN)/radbook labs build

lab: $(VENV)/.labs ## open a lab in JupyterLab: make lab N=2
	$(BIN)/jupyter lab "$$($(BIN)/radbook labs start $(N))"

test: $(VENV)/.developers $(VENV)/.labs ## lint, then run all tests, including those of the rendered book
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 25

lint: $(VENV)/.developers ## check style, types, imports and declared dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry .
	@$(BIN)/python workflow/notebook_style.py
	@$(BIN)/codespell
	@$(BIN)/python workflow/size.py

format: $(VENV)/.developers ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python workflow/notebook_style.py --fix

lock: $(VENV)/.developers ## write the locks; UPGRADE=--upgrade uses the newest versions that pyproject.toml allows
	@$(BIN)/python workflow/lock.py $(UPGRADE)

sbom: $(READY) ## list installed packages with versions and licences in CycloneDX (build/sbom.json)
	@rm -rf build/audit && $(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check --requirement workflow/audit.lock
	@build/audit/bin/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
	  --output-file build/sbom.json $(BIN)/python

clean: ## remove all builds and caches, but not the environment
	rm -rf build .snakemake .pytest_cache .mypy_cache .ruff_cache

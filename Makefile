# The two commands: `make book` and `make test`. Both set up everything they need and are safe to repeat.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Notebooks that run at once; 0: the machine's cores, as far as its memory allows.
CORES ?= 0
# A folder of notebooks such as green, a notebook or an exhibit: build its pages alone.
ONLY ?=
# The lab that `make lab` opens.
N ?= 1
# Of `make lock`: --upgrade, or --upgrade-package NAME.
UPGRADE ?=

# Sixty notebooks load the same modules, which Python compiles once where it may keep what it compiled.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help book labs lab test open full lint format lock sbom clean
.DELETE_ON_ERROR:

help: ## say what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

# An environment whose installation was interrupted has no $(READY) and is made again.
$(READY): requirements.lock workflow/torch.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 13) else \
	  "Python 3.11 or 3.12 is needed, this is %d.%d: run make PYTHON=/path/to/python3.11" % v)'
	@test -f $@ || { echo "Setting up $(VENV) (a minute, once)"; $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python workflow/install.py
	@touch $@

# What developers and labs need beside it is installed when it is first needed.
$(VENV)/.%: workflow/%.lock $(READY)
	$(BIN)/python workflow/install.py $*
	@touch $@

book: $(READY) ## run every notebook and render the book (profile embedded)
	@workflow/fetch_pyodide
	@$(BIN)/radbook build --profile embedded --cores $(CORES) $(if $(ONLY),--only $(ONLY))

open: $(READY) ## the same on public data; needs RADEVAL_DATA_ROOT
	@workflow/fetch_pyodide
	@$(BIN)/radbook build --profile open --cores $(CORES) $(if $(ONLY),--only $(ONLY))

full: $(READY) ## the papers' settings; needs credentials and a GPU, see the book's page on reproducing
	@$(BIN)/radbook build --profile full --cores $(CORES) $(if $(ONLY),--only $(ONLY))

labs: $(VENV)/.labs ## build every lab: for students, solved, autograder, slides and quiz
	@$(BIN)/radbook labs build

lab: $(VENV)/.labs ## open a lab to work on: make lab N=2
	$(BIN)/jupyter lab "$$($(BIN)/radbook labs start $(N))"

test: $(VENV)/.developers $(VENV)/.labs ## lint, then all tests, those of the rendered book included
	@$(MAKE) --no-print-directory lint
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder --durations 25

lint: $(VENV)/.developers ## style, types and declared dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/deptry .
	@$(BIN)/python workflow/notebook_style.py
	@$(BIN)/codespell
	@$(BIN)/python workflow/size.py

format: $(VENV)/.developers ## put the code into the one format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(BIN)/python workflow/notebook_style.py --fix

lock: $(VENV)/.developers ## write the locks again; UPGRADE=--upgrade takes the newest that pyproject.toml allows
	@$(BIN)/python workflow/lock.py $(UPGRADE)

sbom: $(READY) ## list what is installed, with versions and licences, as CycloneDX (build/sbom.json)
	@rm -rf build/audit && $(PYTHON) -m venv build/audit
	@build/audit/bin/python -m pip install --quiet --disable-pip-version-check --requirement workflow/audit.lock
	@build/audit/bin/cyclonedx-py environment --output-reproducible --pyproject pyproject.toml \
	  --output-file build/sbom.json $(BIN)/python

clean: ## remove everything that can be made again, but not the environment
	rm -rf build .snakemake .pytest_cache .mypy_cache .ruff_cache

"""What ordinary answers to a lab's tasks use of Python and of packages, and what they have no use for; see
:mod:`radeval_lib.labs.workarounds`."""

from __future__ import annotations

import site
import sys
from functools import cache
from importlib.machinery import PathFinder


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


IMPORTED = _words("""
    __future__ abc argparse array ast base64 bisect calendar cmath collections colorsys contextlib copy csv
    dataclasses datetime decimal difflib doctest enum errno fnmatch fractions functools getpass glob
    graphlib gzip hashlib heapq html io itertools json keyword locale logging math numbers operator os
    pathlib pickle platform pprint queue random re reprlib secrets shutil signal socket sqlite3 statistics
    string struct tempfile textwrap time timeit token tokenize tomllib traceback typing unicodedata unittest
    urllib uuid warnings weakref xml zipfile zlib zoneinfo
    altair attr attrs bert_score bokeh bs4 cycler datasets dateutil evaluate google hypothesis ipywidgets
    jsonschema jupytext krippendorff lxml matplotlib matplotlib_inline more_itertools mpl_toolkits mpmath
    nbformat nervaluate netcal networkx nltk numpy openpyxl pandas pandas_flavor papermill PIL pingouin
    plotly polars psutil pyarrow pylab pytest pytz radeval_lib rapidfuzz regex requests rich rouge_score
    sacrebleu scipy seaborn sentence_transformers seqeval simpledorff six sklearn sortedcontainers spacy
    statsmodels tabulate threadpoolctl tokenizers toolz torch torchmetrics tqdm transformers
    typing_extensions xarray yaml
""")
"""Modules. Of what else is installed some begins threads and processes, runs texts as code or finds modules
by their names."""
ONLY = {
    "sys": _words("""
        argv byteorder exc_info executable exit flags float_info float_repr_style getdefaultencoding
        getrecursionlimit getsizeof hexversion implementation int_info intern maxsize maxunicode path platform
        prefix set_int_max_str_digits setrecursionlimit stderr stdin stdlib_module_names stdout version
        version_info
    """),
    "types": _words("GeneratorType GenericAlias MappingProxyType NoneType SimpleNamespace UnionType"),
    "inspect": _words("Parameter cleandoc getdoc getsource isclass isfunction signature"),
    "importlib": _words("metadata reload resources"),
    "gc": _words("collect disable enable isenabled"),
    "IPython": _words("__version__ core display get_ipython utils version_info"),
    "IPython.core": _words("display interactiveshell pylabtools"),
    "IPython.core.interactiveshell": _words("InteractiveShell"),
}
"""Modules of which these names are used alone."""
DENIED = _words("""
    os.exec os.fork os.posix_spawn os.register_at_fork os.spawn
    operator.attrgetter operator.methodcaller string.Formatter unittest.mock pytest.MonkeyPatch contextlib._
    pickle.Unpickler pickle.load torch.load yaml.Loader yaml.UnsafeLoader yaml.unsafe_load
    torch.classes torch.hub torch.multiprocessing torch.ops torch.package torch.utils.data
    logging.config logging.handlers typing.ForwardRef typing.get_type_hints typing_extensions.get_type_hints
    numpy.ctypeslib numpy.f2py numpy.testing.measure
    IPython.utils.importstring IPython.utils.module_paths IPython.utils.process IPython.utils.py3compat
    radeval_lib.child_process radeval_lib.cli radeval_lib.lazy radeval_lib.pipeline radeval_lib.registry
""")
"""What of other modules is not used, with all names that begin so."""
HELD = _words("""
    sys builtins importlib ctypes threading thread subprocess multiprocessing pickle operator inspect gc runpy
    marshal pkgutil
""")
"""Modules that others import and so hold, as ``collections._sys``."""
ON_ANYTHING = _words("""
    by_hand sys builtins importlib setprofile settrace _getframe _current_frames
    f_globals f_builtins f_locals f_back tb_frame gi_frame cr_frame ag_frame
    __dict__ __code__ __globals__ __builtins__ __closure__ __subclasses__ __import__ __getattribute__
    __loader__ __spec__ __self__ __wrapped__ __func__ __bases__ __base__ __mro__ __reduce_ex__ __enter__
    enter_context _old_targets exec run_cell run_cell_async run_code user_ns user_global_ns safe_execfile
    register_magic_function run_in_executor read_pickle load_pickle runstring rundocs
""")
"""Attributes that are not used, whatever they are asked of."""
AS_TEXTS = _words("by_hand setprofile _getframe __dict__")
"""Texts that name such attributes."""
WITHIN_TEXTS = _words("""
    __globals__ __builtins__ __subclasses__ __import__ __getattribute__ __loader__ __code__ __reduce_ex__
    module://
""")
"""What no text holds."""
_GRADING_MODULES = _words("""
    answers attempts by_hand checks grader_processes grading grading_one judge judge_messages sandbox shell
    student submitted_code submitted_commands submitted_constructs submitted_names time_limits workarounds
""")
"""Modules of the labs of which a given cell's use of one name is no leave to use another."""
_FOR_STUDENTS = _words("rng seed known_id PLACEHOLDER")
"""What :mod:`radeval_lib.labs` itself has for students."""


def unusual(path: str) -> str:
    """The part of a dotted name, from its beginning, that ordinary answers have no use for; empty where they
    may use it all. Of a module that holds another, as ``collections._sys``, the other's rules count too."""
    parts = path.split(".")
    top = parts[0]
    if parts[:2] == ["radeval_lib", "labs"]:
        if len(parts) == 2 or parts[2] in _FOR_STUDENTS:
            return ""
        return ".".join(parts[: 4 if parts[2] in _GRADING_MODULES else 3])
    if path == "radeval_lib.*":
        return path
    for place in range(1, len(parts)):
        only = ONLY.get(".".join(parts[:place]))
        if only is not None and parts[place] not in only:
            return ".".join(parts[: place + 1])
    for denied in sorted(DENIED):
        if path.startswith(denied):
            return ".".join(parts[: denied.count(".") + 1])
    if top not in IMPORTED and top not in ONLY and is_installed(top):
        return ".".join(parts[:2])
    for place, part in enumerate(parts[1:], start=1):
        held = part.lstrip("_")
        if held in HELD and (part != held or held not in IMPORTED | ONLY.keys()):
            return ".".join(parts[: place + 1])
        if held in HELD and (within := unusual(".".join([held, *parts[place + 1 :]]))):
            return ".".join([*parts[:place], within])
    return ""


@cache
def is_installed(module: str) -> bool:
    """Whether Python or an installed package has this name; what this process imported from elsewhere does
    not count."""
    return (
        module in sys.stdlib_module_names or PathFinder.find_spec(module, site.getsitepackages()) is not None
    )

"""Code as honest students write it, for each lab: cells, and files that come with them."""

from __future__ import annotations

HONEST: dict[str, list[tuple[list[str], dict[str, bytes]]]] = {
    "words_are_not_findings": [
        (
            [
                """%matplotlib inline
%load_ext autoreload
%autoreload 2
import helper
from helper import words as own_words
from importlib import reload
reload(helper)"""
            ],
            {
                "helper.py": b"""from collections import Counter
def words(t):
    return t.split()
"""
            },
        ),
        (
            [
                """from dataclasses import dataclass
from typing import NamedTuple
@dataclass
class Grams:
    text: str
    n: int
    def counts(self):
        return Counter(zip(*(words(self.text)[i:] for i in range(self.n))))
class Scorer:
    def __init__(self, **settings):
        for key, value in settings.items():
            setattr(self, key, value)
    def get(self, name):
        return getattr(self, name)"""
            ],
            {},
        ),
        (
            [
                """import logging, timeit, doctest
logging.basicConfig(level=logging.INFO)
log = logging.getLogger(__name__)
def bleu(c, r, order=2):
    '''BLEU.

    >>> bleu('a', 'a')
    1.0
    '''
    return 1.0
doctest.testmod()
print(timeit.timeit(lambda: bleu('a', 'b'), number=10))
timeit.timeit('bleu("a", "b")', globals=globals(), number=3)"""
            ],
            {},
        ),
        (
            [
                """try:
    from google.colab import drive
    IN_COLAB = True
except ImportError:
    IN_COLAB = False
print(f'{IN_COLAB=}', 'google.colab' in str(get_ipython()))
import gc, sys, os
gc.collect()
sys.setrecursionlimit(5000)
print(os.environ.get('HOME'), sys.version)"""
            ],
            {},
        ),
        (
            [
                """import inspect
from types import SimpleNamespace
print(inspect.signature(bleu))
cfg = SimpleNamespace(order=2)
results = {f'{name}_score': getattr(cfg, 'order', 2) for name in by_name}
globals()['answer'] = 3
if 'answer' in globals(): pass"""
            ],
            {},
        ),
        (
            [
                """%%time
for name in ['bleu', 'rouge_l']:
    print(name, by_name[name]('a', 'b'))"""
            ],
            {},
        ),
    ],
    "ratescore_step_by_step": [
        (
            [
                """import numpy.linalg as la
from functools import partial, reduce
class Vector:
    __slots__ = ('values',)
    def __init__(self, values):
        self.values = np.asarray(values)
    def __matmul__(self, other):
        return self.values @ other.values
    @property
    def length(self):
        return la.norm(self.values)"""
            ],
            {},
        ),
        (
            [
                """summary = {'precision': precision, 'recall': recall, 'by_hand': by_hand}
for key in ('precision', 'recall', 'by_hand'):
    print(f'{key}: {summary[key]:.3f}')
print(f'{by_hand=}')"""
            ],
            {},
        ),
        (
            [
                """from my_tools.text import denies
import my_tools.vectors as mv
CUES = mv.CUES"""
            ],
            {
                "my_tools/__init__.py": b"",
                "my_tools/text.py": b"""import re
def denies(s):
    return bool(re.search('no', s))
""",
                "my_tools/vectors.py": b"""import numpy as np
CUES = ['no']
""",
            },
        ),
        (
            [
                """%config InlineBackend.figure_format = 'retina'
plt.style.use('ggplot')
plt.rcParams['figure.dpi'] = 120
from tqdm.auto import tqdm
for one in tqdm(triads):
    texts = [getattr(one, kind).findings.text for kind in kinds]"""
            ],
            {},
        ),
        (
            [
                """import textwrap, pprint
from itertools import chain, starmap
pprint.pprint(textwrap.wrap('a b c', 10))
rules = re.compile(r'\\b(?:no|without)\\b', re.I)
assert rules.search('No effusion'), 'should match'
print(type(rules).__name__, direction.__doc__, direction.__name__)"""
            ],
            {},
        ),
    ],
    "teach_a_model_to_see_entities": [
        (
            [
                """from enum import Enum
class Kind(str, Enum):
    ANATOMY = 'ANATOMY'
from collections import defaultdict, namedtuple
Span = namedtuple('Span', 'first end kind')
def spans(tags):
    return {tuple(Span(1, 2, 'ANATOMY')._asdict().values())}"""
            ],
            {},
        ),
        (
            [
                """import json
from pathlib import Path
Path('tags.json').write_text(json.dumps([]))
with open('curve.csv', 'w') as f:
    f.write('size,f1')
import helper"""
            ],
            {"helper.py": b"x = 1", "notes.txt": b""},
        ),
        (
            [
                """%%writefile annotate_tools.py
def pad(tags, n):
    return (tags + ['O'] * n)[:n]"""
            ],
            {},
        ),
        (
            [
                """%%writefile annotate_tools.py
def pad(tags, n):
    return tags
""",
                """from annotate_tools import pad
import annotate_tools as at""",
            ],
            {},
        ),
        (
            [
                """import pickle
with open('tagger.pkl', 'wb') as file:
    pickle.dump(tagger, file)
import warnings
warnings.filterwarnings('ignore')
warnings.simplefilter('ignore')"""
            ],
            {},
        ),
        (
            [
                """import random
random.seed(0)
import matplotlib
matplotlib.rcParams.update({'font.size': 9})
from matplotlib.ticker import MaxNLocator
fig = plt.gcf()
ax = fig.gca()
ax.xaxis.set_major_locator(MaxNLocator(integer=True))
from sklearn.metrics import f1_score
from operator import itemgetter"""
            ],
            {},
        ),
    ],
    "how_sure_is_a_correlation": [
        (
            [
                """for name in ('kendalltau', 'spearmanr', 'pearsonr'):
    print(name, getattr(stats, name)(scores['bleu'], quality))
for fn in ['mean', 'std']:
    print(getattr(np, fn)(quality))"""
            ],
            {},
        ),
        (
            [
                """import pandas as pd
df = pd.DataFrame(scores)
df['quality'] = quality
print(df.corr('kendall'), df.query('bleu > 0.1'), df.eval('bleu + meteor'))
limit = 0.2
print(df.query('bleu > @limit'), df.query(f'bleu > {limit}'))"""
            ],
            {},
        ),
        (
            [
                """import time
start = time.perf_counter()
from functools import lru_cache
@lru_cache(maxsize=None)
def tau(i):
    return i
print(f'{time.perf_counter() - start:.1f} s')
np.save('leads.npy', np.zeros(3)); np.load('leads.npy')"""
            ],
            {},
        ),
        (
            [
                """class Bootstrap:
    def __init__(self, statistic, rows):
        self.statistic, self.rows = statistic, rows
    def __call__(self):
        return [self.statistic(r) for r in self.rows]
    def __repr__(self):
        return f'{self.__class__.__name__}({len(self.rows)})'
    @classmethod
    def of(cls, *given):
        return cls(*given)"""
            ],
            {},
        ),
        (
            [
                """import statsmodels.api as sm
import pingouin as pg
import seaborn as sns
sns.set_theme()
sns.histplot(leads)
from scipy.special import comb
from math import *
from typing import *
x: List[int] = [comb(4, 2)]"""
            ],
            {},
        ),
        (
            [
                """ip = get_ipython()
if ip is not None:
    ip.run_line_magic('matplotlib', 'inline')
shell = get_ipython().__class__.__name__
!pip install pingouin
!python --version
%timeit -n 1 -r 1 tau_b(quality, quality)"""
            ],
            {},
        ),
    ],
    "confidence_one_can_trust": [
        (
            [
                """import scipy
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
print(scipy.__version__, np.__version__)
with np.errstate(divide='ignore'):
    np.log(0)"""
            ],
            {},
        ),
        (
            [
                """import torch
import torch.nn.functional as F
logits = torch.tensor(validation_logits)
with torch.no_grad():
    F.cross_entropy(logits, torch.tensor(validation_truth))
model = torch.nn.Linear(2, 2)
model.eval()"""
            ],
            {},
        ),
        (
            [
                """from contextlib import suppress, redirect_stdout
import io
buffer = io.StringIO()
with redirect_stdout(buffer):
    print(bin_rows)
with suppress(ValueError):
    int('a')
print(dir(), locals().get('x'))"""
            ],
            {},
        ),
        (
            [
                """def compile_rows(rows):
    return [*rows]
compile = compile_rows
code = 'A'
types = ['a']
profile = {'a': 1}
trace = np.trace(np.eye(2))
print(compile([1]), code, types, profile, trace)"""
            ],
            {},
        ),
        (
            [
                """@np.vectorize
def f(x):
    return x
from numpy.testing import assert_allclose
assert_allclose(f([1]), [1])
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(1, 1)
unittest.main(argv=[''], exit=False)"""
            ],
            {},
        ),
    ],
    "write_a_judge": [
        (
            [
                """RULES = {'denial': r'\\b(no|not)\\b', 'side': r'(?P<side>left|right)'}
compiled = {k: re.compile(v, re.I) for k, v in RULES.items()}
m = compiled['side'].search('left')
print(m['side'], m.group('side'), m.groupdict())"""
            ],
            {},
        ),
        (
            [
                """import os
if os.path.exists('leaderboard.csv'):
    os.remove('leaderboard.csv')
import tempfile, shutil
with tempfile.TemporaryDirectory() as d:
    p = Path(d) / 'b.csv'
    p.write_text('name,f1')
    shutil.copy(p, 'board.csv')
from rules import denied as d2"""
            ],
            {
                "rules.py": b"""import re
DENIAL = re.compile('no')
def denied(s):
    return bool(DENIAL.search(s))
"""
            },
        ),
        (
            [
                """class Report(dict):
    def __getattr__(self, name):
        return self[name]
    def __enter__(self):
        return self
    def __exit__(self, *a):
        pass
with Report() as r:
    pass
class Base:
    def __init__(self):
        super().__init__()
        self._cache = {}"""
            ],
            {},
        ),
        (
            [
                """try:
    import polars as pl
except ImportError:
    pl = None
with open('x.csv', 'w', newline='') as f:
    csv.writer(f).writerow(['a'])
import datetime as dt
print(f'{dt.datetime.now():%H:%M}')"""
            ],
            {},
        ),
        (
            [
                """%%capture out
print(1)"""
            ],
            {},
        ),
        (
            [
                """!cat leaderboard.csv
!ls -la && pwd
files = !ls *.csv
name = 'x'
!echo {name}
print(files)
%run rules.py"""
            ],
            {
                "rules.py": b"""a = 1
"""
            },
        ),
    ],
    "count_facts_together": [
        (
            [
                """from collections import Counter
from itertools import combinations
df = pd.json_normalize(json.loads(export), 'annotations', ['id'])
for row in df.itertuples():
    print(row._asdict(), row.Index)
for field in ('reference', 'common'):
    [getattr(c, field) for c in raters[0]]"""
            ],
            {},
        ),
        (
            [
                """from fractions import Fraction
from decimal import Decimal
import statistics as st
st.mean([1, 2])
get = lambda o, f: getattr(o, f)
[get(c, 'recall') for c in raters[0]]"""
            ],
            {},
        ),
        (
            [
                """import functools, operator
functools.reduce(operator.add, [1, 2])
by = operator.itemgetter('a')
import abc
class M(abc.ABC):
    @abc.abstractmethod
    def f(self): ..."""
            ],
            {},
        ),
        (
            [
                """from IPython.display import display, Markdown, HTML
display(Markdown('# a'), HTML('<b>x</b>'))
from IPython import display as d
import ipywidgets as widgets
pd.set_option('display.max_rows', 5)"""
            ],
            {},
        ),
        (
            [
                """%precision 3
%pwd
%who
%whos
?alpha
alpha??
%%html
"""
            ],
            {},
        ),
        (
            [
                """import helper.stats as hs
from helper import *"""
            ],
            {
                "helper/__init__.py": b"""from .stats import mean
""",
                "helper/stats.py": b"""def mean(x):
    return sum(x) / len(x)
""",
            },
        ),
    ],
    "reproduce_a_table": [
        (
            [
                """import pytest
def test_it():
    with pytest.raises(AssertionError):
        check_paper('released')
test_it()"""
            ],
            {},
        ),
        (
            [
                """step = getattr(demonstrations, gap)
print(inspect.getsource(step))
for rule in ('meant', 'released'):
    print(rule, step(*arguments, rule))"""
            ],
            {},
        ),
        (
            [
                """short = short.replace('differences = {}', '''average = printed.iloc[:, -1]
others = printed.iloc[:, :-1]
if left_out:
    others = others.drop(columns=left_out)
differences = (average - others.mean(axis=1)).to_dict()''')
cell = f'{short}\\n'"""
            ],
            {},
        ),
        (
            [
                """from types import SimpleNamespace as NS
import yaml, textwrap
print(yaml.safe_load(profile_text), textwrap.dedent(profile_text))
with open('own.yml', 'w') as f:
    f.write(profile_text)"""
            ],
            {},
        ),
        (
            [
                """from enum import StrEnum
class Word(StrEnum):
    OK = 'consistent'
def verdict(evidence, instrument, found):
    match (evidence, instrument):
        case ('synthetic', _) | (_, 'ours'):
            return 'our experiment'
        case _:
            return f'{Word.OK}'
import yaml
yaml.load(profile_text, Loader=yaml.SafeLoader)"""
            ],
            {},
        ),
    ],
}

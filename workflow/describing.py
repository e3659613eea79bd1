"""The files by which archives, search engines and CODECHECK know the study, from CITATION.cff and the public
home of the repository.

``python workflow/describing.py`` writes them. A fork names its home once, in ``_config.yml``
under ``repository: url``.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml

from radeval_lib import atomic
from radeval_lib.papers.exhibits import exhibit
from radeval_lib.paths import DEFAULT_PROFILE, ROOT
from radeval_lib.pipeline import citing

DESCRIPTION = (
    "Rebuilds the tables and figures of five papers on judging machine-written radiology reports, with a "
    "library that scores, explains and compares a user's own reports."
)
CHECKED = {
    "rales.table3": "RaLEs, Table 3: the NLU scores from their columns",
    "rales.eq_aklu": "RaLEs, Appendix D: aKLU against its definition",
    "green.table6": "GREEN, Table 6: printed intervals against their centres",
}
"""What a CODECHECK should see again: exhibits that every build recomputes from print, and in words."""
NOT_YET = "none yet"
"""Who checked and where their report is: CODECHECK's rules want both, and refuse FIXME and the like."""


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    citation_text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    citation = yaml.safe_load(citation_text)
    url = citing.address()
    authors = [author["name"] for author in citation["authors"]]
    shared = {"description": DESCRIPTION, "keywords": citation["keywords"]}
    codemeta = {
        "@context": "https://w3id.org/codemeta/3.0",
        "@type": "SoftwareSourceCode",
        "name": citation["title"],
        **shared,
        "version": citation["version"],
        "license": f"https://spdx.org/licenses/{citation['license']}",
        "programmingLanguage": "Python",
        "runtimePlatform": ["Python 3.11", "Python 3.12"],
        "author": [{"@type": "Organization", "name": name} for name in authors],
        **({"codeRepository": url, "issueTracker": f"{url}/issues"} if url else {}),
    }
    zenodo = {
        "title": citation["title"],
        **shared,
        "upload_type": "software",
        "access_right": "open",
        "license": citation["license"],
        "creators": [{"name": name} for name in authors],
        **({"related_identifiers": [_supplement(url)]} if url else {}),
    }
    cited = re.sub(r"(?m)^repository-code: .*\n", "", citation_text)
    if url:
        cited = cited.replace("license: ", f"repository-code: {url}\nlicense: ", 1)
    return {
        "CITATION.cff": cited,
        "codemeta.json": json.dumps(codemeta, indent=2, ensure_ascii=False) + "\n",
        ".zenodo.json": json.dumps(zenodo, indent=2, ensure_ascii=False) + "\n",
        "codecheck.yml": _codecheck(citation["title"], authors, url),
    }


def _supplement(url: str) -> dict[str, str]:
    return {"identifier": url, "relation": "isSupplementTo", "scheme": "url"}


def _codecheck(title: str, authors: list[str], url: str) -> str:
    """Return CODECHECK's configuration 1.0 as far as the study itself can fill it."""
    results = f"build/{DEFAULT_PROFILE}/results"
    manifest = [
        {"file": f"{results}/{exhibit(key).notebook}/{key}.printed.json", "comment": words}
        for key, words in CHECKED.items()
    ]
    manifest.append({"file": f"build/{DEFAULT_PROFILE}/_build/html/index.html", "comment": "the book"})
    content: dict[str, Any] = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {
            "title": title,
            "authors": [{"name": name} for name in authors],
            "reference": url or "CITATION.cff",
        },
        "manifest": manifest,
        "codechecker": [{"name": NOT_YET}],
        "report": NOT_YET,
        **({"repository": url} if url else {}),
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    lines = (
        "# After `make book` from a fresh clone. Written by workflow/describing.py.",
        "# Who checks enters name and ORCID under codechecker, the certificate's DOI under report.",
    )
    return "\n".join(("---", *lines, text))


if __name__ == "__main__":
    for name, text in files().items():
        atomic.write_text(ROOT / name, text)

"""Code of the pages that read all papers, one module a page."""

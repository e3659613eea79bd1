"""Code of the pages that read all papers, one module per page."""

"""The five papers' exhibits, printed numbers and quotations, and steps of their released code."""

"""The five papers' exhibits, printed numbers and words, and the rules of their released code."""

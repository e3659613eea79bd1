"""The notebooks of the study, and the code beside them."""

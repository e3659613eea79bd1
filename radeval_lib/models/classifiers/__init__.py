"""Classifiers of texts: fine-tuned whole, or a linear probe on features of a frozen encoder."""

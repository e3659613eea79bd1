"""NER models: two tagging schemes, their decoding, and how they agree with gold annotations."""

"""RaTEScore's pages: NER models, the panel of metrics, drawings of entities."""

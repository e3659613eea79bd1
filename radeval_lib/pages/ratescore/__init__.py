"""RaTEScore's pages: recognisers, the panel of metrics, drawings of entities."""

"""RadGraph's pages: trainings of the joint model, drawings of graphs, and what its conventions change."""

"""The pages on fact counting: agreement on counts and ratios, copying, and simulated raters."""

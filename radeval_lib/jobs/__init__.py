"""What one paper's pages share and no other's: plans of cells, panels of metrics, tallies and drawings."""

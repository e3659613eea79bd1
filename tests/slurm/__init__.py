"""SLURM on one machine, and the study's graph as jobs of it."""

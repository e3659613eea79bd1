"""Roles: what a notebook needs, filled by a data set or by the generator, as the profile says."""

from radeval_lib.roles.filling import ROLES, SYNTHETIC, Role, RoleError, dataset_of, evidence, load

__all__ = ["ROLES", "SYNTHETIC", "Role", "RoleError", "dataset_of", "evidence", "load"]

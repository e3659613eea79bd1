"""Roles: what a notebook needs, filled by a data set or by the generator, as the profile says."""

from radeval_lib.lazy import names_of

_HOMES = {
    "radeval_lib.data.errors": "RoleError",
    "radeval_lib.registry": "ROLES SYNTHETIC dataset_of",
    "radeval_lib.roles.filling": "evidence load",
}
__getattr__ = names_of(__name__, _HOMES)

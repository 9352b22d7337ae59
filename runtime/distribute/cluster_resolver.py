"""The namespace `tf.distribute.cluster_resolver`: the tasks of a cluster, and the one of this process."""
# Namespace distribute.cluster_resolver: `make generate` writes this file from the `@export` declarations.
# isort: skip_file
# fmt: off

from ..core.missing_names import explain as _explain
from .cluster_resolvers import ClusterResolver, SimpleClusterResolver, TFConfigClusterResolver, UnionResolver
from .slurm_resolver import SlurmClusterResolver

__all__ = [
    "ClusterResolver", "SimpleClusterResolver", "SlurmClusterResolver", "TFConfigClusterResolver",
    "UnionResolver",
]

_explain(__name__)

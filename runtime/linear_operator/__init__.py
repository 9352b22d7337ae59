"""`tf.linalg.LinearOperator` and its family: matrices given by their structure, and what is known of them.

All classes are imported at once, since the class of a result follows from the rules of all of them.
"""

from . import (  # noqa: F401
    block_lower_triangular,
    circulant,
    experimental,
    householder,
    kronecker,
    low_rank_update,
    permutation,
    toeplitz,
    tridiag,
    zeros,
)

"""Special functions of real numbers, as vectorised formulas on float64 arrays.

gamma.py        digamma, Hurwitz's zeta, polygamma
shares.py       the incomplete gamma and beta functions
bells.py        inverses of the error function and of the normal distribution, Dawson's integral
bessel.py       Bessel functions of order 0 and 1
integrals.py    the exponential integral, Fresnel's integrals, the dilogarithm
"""

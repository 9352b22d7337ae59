"""Special functions of real numbers, as vectorized formulas on float64 arrays.

gamma.py        digamma, Hurwitz's zeta, polygamma
incomplete_gamma_beta.py       the incomplete gamma and beta functions
error_functions.py        inverses of the error function and of the normal distribution, Dawson's integral
bessel.py       Bessel functions of order 0 and 1
exponential_integrals.py    the exponential integral, Fresnel's integrals, the dilogarithm
tables.py       kernels of float32 numbers, as tables of polynomials that are made from the formulas
"""

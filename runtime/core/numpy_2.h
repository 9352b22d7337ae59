/* The C interfaces of Python and of NumPy 2.0.

   The headers of any NumPy declare what 2.0 has: without a target, those of 2.0 leave out what came after 1.19. */

#ifndef AGC_NUMPY_2_H
#define AGC_NUMPY_2_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#endif

/* Evaluate tables of polynomials at float32 numbers: an optional extension module.

   evaluated(x, rows, first, shift)             a new array, if no result is NaN

   evaluate(x, result, rows, first, shift)      rows[side, 0]                the polynomial of |x| before all intervals
                                                rows[side, 1 ... count]      those of |x| - middle in the intervals
                                                rows[side, count + 1]        NaN, beyond them

   The bits of |x|, shifted right by `shift`, are the number of its interval; the first interval has the number `first`.
   `side` is the sign bit. A row has the coefficients, and the function of the interval's first number, which may be an
   exact zero. tables.py makes the rows. */

#include "../../core/numpy_2.h"

#include <stdint.h>
#include <string.h>

#define TERMS 10
#define COLUMNS (TERMS + 1)
#define FEW (1 << 14) /* numbers that are computed without a release of the GIL */

/* Whether some result is NaN. */
static int compute(const float *x, float *result, npy_intp size, const double *rows, int32_t first, int32_t count, int shift)
{
    const uint32_t half = UINT32_C(1) << (shift - 1);
    int is_any = 0;
    for (npy_intp i = 0; i < size; i++) {
        uint32_t bits, middle;
        float center, great;
        memcpy(&bits, x + i, sizeof bits);
        uint32_t positive = bits & UINT32_C(0x7fffffff);
        int32_t number = (int32_t)(positive >> shift) - first;
        middle = number < 0 ? 0 : (positive & ~(2 * half - 1)) | half;
        number = number < 0 ? -1 : number < count ? number : count;
        int is_first = number >= 0 && (positive & (2 * half - 1)) == 0;
        memcpy(&center, &middle, sizeof center);
        memcpy(&great, &positive, sizeof great);
        const double *p = rows + ((int64_t)(bits >> 31) * (count + 2) + number + 1) * COLUMNS;
        double t = (double)great - (double)center, t2 = t * t, t4 = t2 * t2;
        double low = p[0] + p[1] * t + t2 * (p[2] + p[3] * t), high = p[4] + p[5] * t + t2 * (p[6] + p[7] * t);
        result[i] = (float)(is_first ? p[TERMS] : low + t4 * (high + t4 * (p[8] + p[9] * t)));
        is_any |= result[i] != result[i];
    }
    return is_any;
}

static int are_rows(PyArrayObject *rows)
{
    return PyArray_TYPE(rows) == NPY_DOUBLE && PyArray_ISCARRAY_RO(rows) && PyArray_NDIM(rows) == 3
        && PyArray_DIM(rows, 0) == 2 && PyArray_DIM(rows, 1) >= 2 && PyArray_DIM(rows, 1) <= INT32_MAX
        && PyArray_DIM(rows, 2) == COLUMNS;
}

static PyObject *evaluate(PyObject *module, PyObject *arguments)
{
    PyArrayObject *x, *result, *rows;
    int first, shift;
    if (!PyArg_ParseTuple(arguments, "O!O!O!ii", &PyArray_Type, &x, &PyArray_Type, &result, &PyArray_Type, &rows, &first,
                          &shift))
        return NULL;
    if (PyArray_TYPE(x) != NPY_FLOAT || PyArray_TYPE(result) != NPY_FLOAT || !are_rows(rows)
        || !PyArray_ISCARRAY_RO(x) || !PyArray_ISCARRAY(result) || PyArray_SIZE(x) != PyArray_SIZE(result) || shift < 1
        || shift > 23 || first < 0) {
        PyErr_SetString(PyExc_ValueError, "evaluate takes contiguous float32 arrays of one size, and rows of float64");
        return NULL;
    }
    int is_any;
    Py_BEGIN_ALLOW_THREADS
    is_any = compute(PyArray_DATA(x), PyArray_DATA(result), PyArray_SIZE(x), PyArray_DATA(rows), first,
                     (int32_t)PyArray_DIM(rows, 1) - 2, shift);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(is_any);
}

/* Return the results of an array of few numbers; None for others, and if one of them is NaN. */
static PyObject *evaluated(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyArray_Check(args[1]) || !are_rows((PyArrayObject *)args[1]))
        return PyErr_Format(PyExc_TypeError, "evaluated(x, rows, first, shift)");
    PyArrayObject *x = (PyArrayObject *)args[0], *rows = (PyArrayObject *)args[1];
    long first = PyLong_AsLong(args[2]), shift = PyLong_AsLong(args[3]);
    if (PyErr_Occurred()) return NULL;
    if (first < 0 || first > INT32_MAX || shift < 1 || shift > 23) return PyErr_Format(PyExc_ValueError, "no such table");
    if (!PyArray_CheckExact(args[0]) || PyArray_TYPE(x) != NPY_FLOAT || !PyArray_ISCARRAY_RO(x) || PyArray_SIZE(x) > FEW)
        Py_RETURN_NONE;
    PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(x), PyArray_DIMS(x), NPY_FLOAT);
    if (result == NULL) return NULL;
    if (!compute(PyArray_DATA(x), PyArray_DATA(result), PyArray_SIZE(x), PyArray_DATA(rows), (int32_t)first,
                 (int32_t)PyArray_DIM(rows, 1) - 2, (int)shift))
        return (PyObject *)result;
    Py_DECREF(result);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"evaluated", (PyCFunction)(void (*)(void))evaluated, METH_FASTCALL,
     "evaluated(x, rows, first, shift)\n--\n\nReturn the results of few numbers; None if one is NaN, and for others."},
    {"evaluate", evaluate, METH_VARARGS, "evaluate(x, result, rows, first, shift)\n--\n\nReturn whether a result is NaN."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_tables", "Evaluate tables of polynomials.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_tables(void)
{
    import_array();
    return PyModule_Create(&definition);
}

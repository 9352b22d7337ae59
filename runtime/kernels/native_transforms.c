/* Fourier transforms of several rows at once: an optional extension module.

   transform(x, out, roots, kind, first, end)      transform the rows from `first` to `end` along the middle axis

   The arrays are [outer, size, inner], and their rows have the numbers from 0 to outer * inner. Each element of a vector
   register belongs to another row, so all passes consist of operations on whole registers. `x` is cut, or padded with
   zeros. fourier.py leaves other sizes than products of 2, 3 and 5 to NumPy, which transforms one row at a time. */

#include "../core/numpy_2.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

enum Kind { FORWARD, INVERSE, REAL_FORWARD, REAL_INVERSE };

typedef struct {
    enum Kind kind;
    npy_intp n;     /* complex numbers that are transformed */
    npy_intp scale; /* roots for each of them: 2 for real transforms, which pack two numbers in one */
    npy_intp given, inner;
    const void *from, *roots;
    void *to;
} Transform;

static int next_radix(npy_intp n)
{
    return n % 4 == 0 ? 4 : n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : n % 5 == 0 ? 5 : 0;
}

#define REAL float
#define NAMED(name) name##_float
#include "transform_lanes.h"
#undef REAL
#undef NAMED
#define REAL double
#define NAMED(name) name##_double
#include "transform_lanes.h"

/* Whether an array has adjacent elements and a shape of three axes. */
static int is_plain(PyArrayObject *array)
{
    return PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == 3;
}

static int has_type(PyArrayObject *array, int is_double, int is_complex)
{
    return PyArray_TYPE(array) == (is_complex ? is_double ? NPY_CDOUBLE : NPY_CFLOAT : is_double ? NPY_DOUBLE : NPY_FLOAT);
}

static PyObject *transform(PyObject *module, PyObject *arguments)
{
    PyArrayObject *x, *out, *roots;
    int kind;
    Py_ssize_t first, end;
    if (!PyArg_ParseTuple(arguments, "O!O!O!inn", &PyArray_Type, &x, &PyArray_Type, &out, &PyArray_Type, &roots, &kind,
                          &first, &end))
        return NULL;
    int is_double = PyArray_TYPE(roots) == NPY_CDOUBLE, is_real = kind >= REAL_FORWARD;
    npy_intp count = PyArray_SIZE(roots), n = is_real ? count / 2 : count, rest = n;
    while (rest > 1 && next_radix(rest)) rest /= next_radix(rest);
    int fits = kind >= FORWARD && kind <= REAL_INVERSE && is_plain(x) && is_plain(out) && PyArray_ISWRITEABLE(out)
               && PyArray_ISCARRAY_RO(roots) && has_type(roots, is_double, 1) && has_type(x, is_double, kind != REAL_FORWARD)
               && has_type(out, is_double, kind != REAL_INVERSE) && rest == 1 && (!is_real || count % 2 == 0);
    npy_intp wanted = kind == REAL_FORWARD ? n + 1 : count;
    if (!fits || PyArray_DIM(out, 1) != wanted || PyArray_DIM(x, 0) != PyArray_DIM(out, 0)
        || PyArray_DIM(x, 2) != PyArray_DIM(out, 2) || first < 0 || end > PyArray_DIM(x, 0) * PyArray_DIM(x, 2)) {
        PyErr_SetString(PyExc_ValueError, "arrays do not fit");
        return NULL;
    }
    Transform t = {(enum Kind)kind, n, is_real ? 2 : 1, PyArray_DIM(x, 1), PyArray_DIM(x, 2),
                   PyArray_DATA(x), PyArray_DATA(roots), PyArray_DATA(out)};
    char *memory = PyMem_RawMalloc(4 * (n + 1) * 32 + 64);
    if (memory == NULL) return PyErr_NoMemory();
    char *aligned = (char *)(((uintptr_t)memory + 63) / 64 * 64);
    Py_BEGIN_ALLOW_THREADS
    if (is_double) rows_double(&t, first, end, aligned);
    else rows_float(&t, first, end, aligned);
    Py_END_ALLOW_THREADS
    PyMem_RawFree(memory);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"transform", transform, METH_VARARGS, "transform(x, out, roots, kind, first, end)\n--\n\nTransform some rows."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_transforms", "Fourier transforms of several rows at once.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_transforms(void)
{
    import_array();
    return PyModule_Create(&definition);
}

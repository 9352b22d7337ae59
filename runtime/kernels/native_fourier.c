/* Fourier transforms of many lines at once, a line in each lane of a vector: an optional extension module.

   transform(x, y, axis, roots, is_inverse, run_parts, threads)

   lines of x ──► a block of them, cut or padded ──► steps of radix 4, 2, 3, 5 and 7 (Stockham) ──► lines of y
                  element 0   re re re … im im im …
                  element 1   re re re … im im im …

   A real transform of n numbers is a complex one of n / 2: even ones are real parts, odd ones imaginary parts.
   fourier.py calls it, and leaves other transforms to NumPy, which takes one line after the other. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <stdint.h>
#include <stdlib.h>

#define LINE 64   /* bytes of a cache line, and of a row of lanes */
#define VECTOR 32 /* bytes of a vector register: four real and four imaginary parts fit into 16 registers */

#define ALWAYS __attribute__((always_inline))

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

enum Kind { FORWARD, INVERSE, REAL, REAL_INVERSE };

typedef void (*Part)(void *around, int64_t begin, int64_t end);
typedef void (*RunParts)(Part part, void *around, int64_t rounds, int64_t threads, int64_t wakes);

typedef struct {
    const void *x, *roots;  /* roots of unity, `unit` times as many as the size */
    void *y;
    npy_intp given, out;    /* elements of a line of x that count, and of a line of y */
    npy_intp inner, pitch;  /* the distances of the elements of a line, and of lines of x that are not adjacent */
    npy_intp lines, size, unit; /* of the complex transform */
    enum Kind kind;
    int has_failed;
} Work;

static int radix_of(npy_intp size)
{
    return size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : size % 3 == 0 ? 3 : size % 5 == 0 ? 5 : 7;
}

static int is_smooth(npy_intp size)
{
    while (size > 1 && size % radix_of(size) == 0) size /= radix_of(size);
    return size == 1;
}

#define number float
#define NAME(name) name##_of_floats
#include "native_fourier.h"
#undef number
#undef NAME
#define number double
#define NAME(name) name##_of_doubles
#include "native_fourier.h"

static npy_intp product(const npy_intp *shape, int begin, int end)
{
    npy_intp result = 1;
    for (int i = begin; i < end; i++) result *= shape[i];
    return result;
}

static PyObject *transform(PyObject *module, PyObject *arguments)
{
    PyArrayObject *x, *y, *roots;
    int axis, is_inverse;
    unsigned long long run_parts;
    long long threads;
    if (!PyArg_ParseTuple(arguments, "O!O!iO!pKL", &PyArray_Type, &x, &PyArray_Type, &y, &axis, &PyArray_Type, &roots,
                          &is_inverse, &run_parts, &threads))
        return NULL;
    int rank = PyArray_NDIM(x), is_single = PyArray_TYPE(roots) == NPY_CFLOAT;
    int is_real = !PyArray_ISCOMPLEX(x), to_real = !PyArray_ISCOMPLEX(y);
    int are_fit = PyArray_ISCARRAY_RO(x) && PyArray_ISCARRAY(y) && PyArray_ISCARRAY_RO(roots) && axis >= 0 && axis < rank
                  && PyArray_NDIM(y) == rank && (is_single || PyArray_TYPE(roots) == NPY_CDOUBLE) && !(is_real && to_real);
    int real = is_single ? NPY_FLOAT : NPY_DOUBLE, whole = PyArray_TYPE(roots);
    for (int i = 0; are_fit && i < rank; i++) are_fit = i == axis || PyArray_DIM(x, i) == PyArray_DIM(y, i);
    if (!are_fit || PyArray_TYPE(x) != (is_real ? real : whole) || PyArray_TYPE(y) != (to_real ? real : whole))
        return PyErr_Format(PyExc_ValueError, "these arrays cannot be transformed");
    npy_intp n = PyArray_SIZE(roots), inner = product(PyArray_DIMS(x), axis + 1, rank), length = PyArray_DIM(x, axis);
    int halves = is_real || to_real ? 2 : 1;
    npy_intp most = to_real ? n / 2 + 1 : n;
    Work g = {
        .x = PyArray_DATA(x), .y = PyArray_DATA(y), .roots = PyArray_DATA(roots), .inner = inner, .pitch = length * inner,
        .given = length < most ? length : most, .out = PyArray_DIM(y, axis), .size = n / halves, .unit = halves,
        .lines = inner * product(PyArray_DIMS(x), 0, axis),
        .kind = is_real ? REAL : to_real ? REAL_INVERSE : is_inverse ? INVERSE : FORWARD,
    };
    if (n % halves || !is_smooth(g.size) || g.out != (is_real ? n / 2 + 1 : n))
        return PyErr_Format(PyExc_ValueError, "lines of %zd numbers cannot be transformed", (Py_ssize_t)n);
    npy_intp lanes = LINE / (is_single ? sizeof(float) : sizeof(double)), blocks = (g.lines + lanes - 1) / lanes;
    Py_BEGIN_ALLOW_THREADS
    ((RunParts)(uintptr_t)run_parts)(is_single ? transform_blocks_of_floats : transform_blocks_of_doubles, &g, blocks, threads, 1);
    Py_END_ALLOW_THREADS
    if (g.has_failed) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"transform", transform, METH_VARARGS,
     "transform(x, y, axis, roots, is_inverse, run_parts, threads)\n--\n\nTransform x into y; both are C-contiguous."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_fourier", "Fourier transforms of many lines at once.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_fourier(void)
{
    import_array();
    return PyModule_Create(&definition);
}

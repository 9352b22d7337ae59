/* Combine rows at positions that may repeat, in their order: an optional extension module.

   combine("add", result, positions, rows)                      result[positions[i]] += rows[i]     i = 0, 1, …
   add_weighted(result, positions, rows, sources, weights)      result[:, positions[i]] += weights[i] * rows[:, sources[i]]

   are_within(indices, size)                                    0 <= indices[i] < size for all i

   rows.py computes the same with NumPy, which is slower: `ufunc.at` has a fast loop for vectors only. */

#include "../core/numpy_2.h"

#include <stdint.h>

typedef void Loop(void *result, const int64_t *positions, const void *rows, npy_intp count, npy_intp width);

#define DEFINE(name, type, expression)                                                                           \
    static void name(void *result, const int64_t *positions, const void *rows, npy_intp count, npy_intp width)   \
    {                                                                                                            \
        for (npy_intp i = 0; i < count; i++) {                                                                   \
            type *restrict x = (type *)result + positions[i] * width;                                            \
            const type *restrict y = (const type *)rows + i * width;                                             \
            for (npy_intp j = 0; j < width; j++) x[j] = (type)(expression);                                      \
        }                                                                                                        \
    }

/* `wide` has the arithmetic of integers that wrap around. The larger of NaN and another number is NaN. */
#define DEFINE_ALL(type, wide)                                                 \
    DEFINE(add_##type, type, (wide)x[j] + (wide)y[j])                          \
    DEFINE(multiply_##type, type, (wide)x[j] * (wide)y[j])                     \
    DEFINE(maximum_##type, type, x[j] >= y[j] || x[j] != x[j] ? x[j] : y[j])   \
    DEFINE(minimum_##type, type, x[j] <= y[j] || x[j] != x[j] ? x[j] : y[j])

DEFINE_ALL(float, float)
DEFINE_ALL(double, double)
DEFINE_ALL(int32_t, uint32_t)
DEFINE_ALL(int64_t, uint64_t)

#define ALL(type) {add_##type, multiply_##type, maximum_##type, minimum_##type}

static const char *const names[] = {"add", "multiply", "maximum", "minimum"};
static Loop *const loops[4][4] = {ALL(float), ALL(double), ALL(int32_t), ALL(int64_t)};

static int kind_of(int type)
{
    return type == NPY_FLOAT ? 0 : type == NPY_DOUBLE ? 1 : type == NPY_INT32 ? 2 : type == NPY_INT64 ? 3 : -1;
}

/* Whether all of `count` integers are in [0, size): negative ones are large as unsigned ones. */
#define DEFINE_RANGE(type)                                                        \
    static int are_below_##type(const void *indices, npy_intp count, uint64_t size) \
    {                                                                             \
        const type *x = indices, *end = x + count;                                \
        int outside = 0;                                                          \
        for (; x < end; x++) outside |= *x >= size;                               \
        return !outside;                                                          \
    }

DEFINE_RANGE(uint32_t)
DEFINE_RANGE(uint64_t)

static PyObject *combine(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyArrayObject *result;
    PyObject *positions, *given;
    if (!PyArg_ParseTuple(arguments, "sO!OO", &name, &PyArray_Type, &result, &positions, &given)) return NULL;
    int type = PyArray_TYPE(result), kind = kind_of(type), which = 0, is_done = 0;
    while (which < 4 && strcmp(name, names[which])) which++;
    int fits = kind >= 0 && which < 4 && PyArray_ISCARRAY(result) && PyArray_NDIM(result) > 0 && PyArray_Check(given);
    if (!fits || PyArray_TYPE((PyArrayObject *)given) != type) Py_RETURN_FALSE;
    int flags = NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST;
    PyArrayObject *places = (PyArrayObject *)PyArray_FROMANY(positions, NPY_INT64, 0, 0, flags);
    PyArrayObject *rows = (PyArrayObject *)PyArray_FROMANY(given, type, 0, 0, flags);
    npy_intp width = PyArray_MultiplyList(PyArray_DIMS(result) + 1, PyArray_NDIM(result) - 1);
    if (places != NULL && rows != NULL && PyArray_SIZE(rows) > 0 && PyArray_SIZE(rows) == PyArray_SIZE(places) * width) {
        Py_BEGIN_ALLOW_THREADS
        is_done = are_below_uint64_t(PyArray_DATA(places), PyArray_SIZE(places), PyArray_DIM(result, 0));
        if (is_done)
            loops[kind][which](PyArray_DATA(result), PyArray_DATA(places), PyArray_DATA(rows), PyArray_SIZE(places), width);
        Py_END_ALLOW_THREADS
    }
    int failed = places == NULL || rows == NULL;
    Py_XDECREF(places);
    Py_XDECREF(rows);
    return failed ? NULL : PyBool_FromLong(is_done);
}

#define WEIGHTED(width)                                                                                          \
    for (npy_intp j = 0; j < (width); j++) x[j] += weight * y[j];

#define DEFINE_WEIGHTED(type)                                                                                    \
    static void weighted_##type(char *result, const npy_intp *pitch, const int64_t *positions, const char *rows, \
                                const npy_intp *stride, const int64_t *sources, const type *weights,             \
                                npy_intp count, npy_intp batch, npy_intp width)                                  \
    {                                                                                                            \
        for (npy_intp b = 0; b < batch; b++)                                                                     \
            for (npy_intp i = 0; i < count; i++) {                                                               \
                type *restrict x = (type *)(result + b * pitch[0] + positions[i] * pitch[1]), weight = weights[i]; \
                const type *restrict y = (const type *)(rows + b * stride[0] + sources[i] * stride[1]);          \
                if (width == 3) { WEIGHTED(3) }                                                                  \
                else if (width == 1) { WEIGHTED(1) }                                                             \
                else { WEIGHTED(width) }                                                                         \
            }                                                                                                    \
    }

DEFINE_WEIGHTED(float)
DEFINE_WEIGHTED(double)

static int is_vector(PyArrayObject *array, int type, npy_intp count)
{
    return PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == 1 && PyArray_EquivTypenums(PyArray_TYPE(array), type)
           && PyArray_DIM(array, 0) == count;
}

/* Whether an array is [batch, rows, width] with aligned rows whose elements are adjacent. */
static int has_rows(PyArrayObject *array, int type)
{
    return PyArray_TYPE(array) == type && PyArray_NDIM(array) == 3 && PyArray_ISALIGNED(array) && PyArray_ISNOTSWAPPED(array)
           && (PyArray_STRIDE(array, 2) == PyArray_ITEMSIZE(array) || PyArray_DIM(array, 2) < 2);
}

static PyObject *add_weighted(PyObject *module, PyObject *arguments)
{
    PyArrayObject *result, *positions, *rows, *sources, *weights;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!O!", &PyArray_Type, &result, &PyArray_Type, &positions, &PyArray_Type, &rows,
                          &PyArray_Type, &sources, &PyArray_Type, &weights))
        return NULL;
    int type = PyArray_TYPE(result);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || !PyArray_ISWRITEABLE(result) || !has_rows(result, type)
        || !has_rows(rows, type) || PyArray_NDIM(weights) != 1)
        Py_RETURN_FALSE;
    npy_intp count = PyArray_DIM(weights, 0), batch = PyArray_DIM(result, 0), width = PyArray_DIM(result, 2);
    if (!is_vector(weights, type, count) || !is_vector(positions, NPY_INT64, count) || !is_vector(sources, NPY_INT64, count)
        || PyArray_DIM(rows, 0) != batch || PyArray_DIM(rows, 2) != width)
        Py_RETURN_FALSE;
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = are_below_uint64_t(PyArray_DATA(positions), count, PyArray_DIM(result, 1))
              && are_below_uint64_t(PyArray_DATA(sources), count, PyArray_DIM(rows, 1));
    if (is_done && type == NPY_FLOAT)
        weighted_float(PyArray_DATA(result), PyArray_STRIDES(result), PyArray_DATA(positions), PyArray_DATA(rows),
                       PyArray_STRIDES(rows), PyArray_DATA(sources), PyArray_DATA(weights), count, batch, width);
    else if (is_done)
        weighted_double(PyArray_DATA(result), PyArray_STRIDES(result), PyArray_DATA(positions), PyArray_DATA(rows),
                        PyArray_STRIDES(rows), PyArray_DATA(sources), PyArray_DATA(weights), count, batch, width);
    Py_END_ALLOW_THREADS
    return PyBool_FromLong(is_done);
}

static PyObject *are_within(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) return PyErr_Format(PyExc_TypeError, "are_within(indices, size)");
    Py_ssize_t size = PyLong_AsSsize_t(arguments[1]);
    if (size == -1 && PyErr_Occurred()) return NULL;
    PyArrayObject *array = (PyArrayObject *)arguments[0];
    if (!PyArray_CheckExact(arguments[0]) || !PyArray_ISINTEGER(array) || !PyArray_ISCARRAY_RO(array)
        || PyArray_ITEMSIZE(array) < 4 || size < 0)
        Py_RETURN_NONE;
    npy_intp length = PyArray_SIZE(array);
    int is_short = PyArray_ITEMSIZE(array) == 4;
    return PyBool_FromLong((is_short ? are_below_uint32_t : are_below_uint64_t)(PyArray_DATA(array), length, size));
}

static PyMethodDef functions[] = {
    {"add_weighted", add_weighted, METH_VARARGS,
     "add_weighted(result, positions, rows, sources, weights)\n--\n\nReturn whether it is done, as `combine` does."},
    {"are_within", (PyCFunction)(void (*)(void))are_within, METH_FASTCALL,
     "are_within(indices, size)\n--\n\nReturn whether all are in [0, size); None for arrays that are left to NumPy."},
    {"combine", combine, METH_VARARGS,
     "combine(name, result, positions, rows)\n--\n\nReturn whether it is done; False for arrays that are left to NumPy."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_rows", "Combine rows at positions that may repeat.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_rows(void)
{
    import_array();
    return PyModule_Create(&definition);
}

/* Short loops over whole arrays, without what a function of NumPy does around them: an optional extension module.

   join(otherwise, axis, x, y, …)      the arrays next to each other along an axis
   stack(otherwise, axis, x, y, …)     the arrays along a new axis
   row_numbers(indices, sizes)         the numbers of the rows that coordinates select: i * sizes[1] + j for each [i, j]

   Other arrays are left to NumPy: of objects, of different types, and those that are not contiguous. joins.py and rows.py
   compute the same with NumPy. */

#include "../core/numpy_2.h"

#include <stdint.h>
#include <string.h>

#define LARGE (1 << 17) /* bytes whose copy is worth the release of the GIL */
#define DEPTH 8         /* coordinates of a row */

static int is_plain(PyObject *x)
{
    PyArrayObject *array = (PyArrayObject *)x;
    return PyArray_CheckExact(x) && PyTypeNum_ISNUMBER(PyArray_TYPE(array)) && PyArray_ISCARRAY_RO(array);
}

/* Return whether plain arrays have one type and shape, except for the sizes of `axis`. */
static int are_alike(PyArrayObject *x, PyArrayObject *y, int axis)
{
    if (PyArray_DESCR(x) != PyArray_DESCR(y) || PyArray_NDIM(x) != PyArray_NDIM(y)) return 0;
    for (int i = 0; i < PyArray_NDIM(x); i++)
        if (i != axis && PyArray_DIM(x, i) != PyArray_DIM(y, i)) return 0;
    return 1;
}

/* Copy each array's part of a step of the outer axes into the result, one after the other. */
static void copy_parts(char *to, PyObject *const *arrays, Py_ssize_t count, npy_intp outer)
{
    for (npy_intp i = 0; i < outer; i++)
        for (Py_ssize_t k = 0; k < count; k++) {
            npy_intp part = PyArray_NBYTES((PyArrayObject *)arrays[k]) / outer;
            memcpy(to, PyArray_BYTES((PyArrayObject *)arrays[k]) + i * part, part);
            to += part;
        }
}

/* Return the arrays along an axis, which is new if `is_new`; NULL without an exception if they are left to NumPy. */
static PyObject *copied(PyObject *const *arrays, Py_ssize_t count, int axis, int is_new)
{
    npy_intp sizes[NPY_MAXDIMS], total = 0, outer = 1;
    PyArrayObject *first = (PyArrayObject *)arrays[0];
    if (!is_plain(arrays[0])) return NULL;
    int rank = PyArray_NDIM(first) + is_new;
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank || rank > NPY_MAXDIMS) return NULL;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyArrayObject *x = (PyArrayObject *)arrays[i];
        if (!is_plain(arrays[i]) || !are_alike(first, x, is_new ? -1 : axis)) return NULL;
        total += is_new ? 1 : PyArray_DIM(x, axis);
    }
    for (int i = 0; i < rank; i++) sizes[i] = i == axis ? total : PyArray_DIM(first, i - (is_new && i > axis));
    for (int i = 0; i < axis; i++) outer *= sizes[i];
    PyArrayObject *result = (PyArrayObject *)PyArray_SimpleNew(rank, sizes, PyArray_TYPE(first));
    if (result == NULL || PyArray_NBYTES(result) == 0) return (PyObject *)result;
    PyThreadState *state = PyArray_NBYTES(result) < LARGE ? NULL : PyEval_SaveThread();
    copy_parts(PyArray_BYTES(result), arrays, count, outer);
    if (state != NULL) PyEval_RestoreThread(state);
    return (PyObject *)result;
}

/* Return `otherwise(arrays, axis)` for arrays that are left to NumPy. */
static PyObject *joined(PyObject *const *args, Py_ssize_t count, int is_new)
{
    if (count < 3) return PyErr_Format(PyExc_TypeError, "a function, an axis, and arrays");
    long axis = PyLong_AsLong(args[1]);
    if (axis == -1 && PyErr_Occurred()) return NULL;
    int is_axis = -NPY_MAXDIMS <= axis && axis <= NPY_MAXDIMS;
    PyObject *found = is_axis ? copied(args + 2, count - 2, (int)axis, is_new) : NULL;
    if (found != NULL || PyErr_Occurred()) return found;
    PyObject *arrays = PyList_New(count - 2);
    if (arrays == NULL) return NULL;
    for (Py_ssize_t i = 2; i < count; i++) PyList_SET_ITEM(arrays, i - 2, Py_NewRef(args[i]));
    found = PyObject_CallFunctionObjArgs(args[0], arrays, args[1], NULL);
    Py_DECREF(arrays);
    return found;
}

static PyObject *join(PyObject *module, PyObject *const *args, Py_ssize_t count) { return joined(args, count, 0); }

static PyObject *stack(PyObject *module, PyObject *const *args, Py_ssize_t count) { return joined(args, count, 1); }

/* Set the numbers of rows; return whether all coordinates are in the range of their axes. */
#define DEFINE_NUMBERS(type)                                                                                         \
    static int numbers_##type(const type *indices, npy_intp count, int depth, const int64_t *sizes, int64_t *found)  \
    {                                                                                                                \
        int is_inside = 1;                                                                                           \
        for (npy_intp i = 0; i < count; i++, indices += depth) {                                                     \
            uint64_t number = 0;                                                                                     \
            for (int k = 0; k < depth; k++) {                                                                        \
                is_inside &= (uint64_t)(int64_t)indices[k] < (uint64_t)sizes[k];                                     \
                number = number * (uint64_t)sizes[k] + (uint64_t)(int64_t)indices[k];                                \
            }                                                                                                        \
            found[i] = (int64_t)number;                                                                              \
        }                                                                                                            \
        return is_inside;                                                                                            \
    }

DEFINE_NUMBERS(int32_t)
DEFINE_NUMBERS(int64_t)

/* Return the numbers of the rows that coordinates along the last axis select, None if they are left to NumPy. */
static PyObject *row_numbers(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    int64_t sizes[DEPTH];
    if (count != 2 || !PyTuple_CheckExact(args[1])) return PyErr_Format(PyExc_TypeError, "row_numbers(indices, sizes)");
    PyArrayObject *indices = (PyArrayObject *)args[0];
    Py_ssize_t depth = PyTuple_GET_SIZE(args[1]);
    int is_known = is_plain(args[0]) && PyArray_ISSIGNED(indices) && PyArray_NDIM(indices) > 0 && depth > 0 && depth <= DEPTH;
    if (!is_known || PyArray_DIM(indices, PyArray_NDIM(indices) - 1) != depth) Py_RETURN_NONE;
    int is_short = PyArray_ITEMSIZE(indices) == 4;
    if (!is_short && PyArray_ITEMSIZE(indices) != 8) Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < depth; i++) {
        sizes[i] = PyLong_AsLongLong(PyTuple_GET_ITEM(args[1], i));
        if (sizes[i] == -1 && PyErr_Occurred()) return NULL;
    }
    npy_intp rows = PyArray_SIZE(indices) / depth;
    PyArrayObject *found = (PyArrayObject *)PyArray_SimpleNew(PyArray_NDIM(indices) - 1, PyArray_DIMS(indices), NPY_INT64);
    if (found == NULL) return NULL;
    int is_inside = is_short ? numbers_int32_t(PyArray_DATA(indices), rows, (int)depth, sizes, PyArray_DATA(found))
                             : numbers_int64_t(PyArray_DATA(indices), rows, (int)depth, sizes, PyArray_DATA(found));
    if (is_inside) return (PyObject *)found;
    Py_DECREF(found);
    Py_RETURN_NONE;
}

#define FUNCTION(name, manual) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, manual}

static PyMethodDef functions[] = {
    FUNCTION(join, "join(otherwise, axis, x, y, …)\n--\n\nReturn the arrays next to each other along an axis."),
    FUNCTION(stack, "stack(otherwise, axis, x, y, …)\n--\n\nReturn the arrays along a new axis."),
    FUNCTION(row_numbers, "row_numbers(indices, sizes)\n--\n\nReturn the rows that coordinates select; None for others."),
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_arrays", "Short loops over whole arrays.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_arrays(void)
{
    import_array();
    return PyModule_Create(&definition);
}

/* Convert vectors of byte strings to one array of bytes and back: an optional extension module.

   lengths(texts)              [b"ab", b"c"]                 ==>     [2, 1]
   packed(texts)               [b"ab", b"c"]                 ==>     the bytes of b"abc"
   numbers(texts, False, True) [b"7", b"-12"]                ==>     [7, -12]
   cut(whole, begins, ends)    b"abc", [0, 2], [2, 3]        ==>     [b"ab", b"c"]

   packed.py computes the same in Python. All take and return contiguous vectors. */

#include "../../core/numpy_2.h"

#include <stdint.h>
#include <string.h>

/* The strings of a vector, or NULL with an exception set; their lengths go to `lengths` if it is not NULL. */
static PyObject **strings_of(PyObject *texts, int64_t *lengths, npy_intp *size)
{
    if (!PyArray_ISCARRAY_RO((PyArrayObject *)texts) || PyArray_TYPE((PyArrayObject *)texts) != NPY_OBJECT) {
        PyErr_SetString(PyExc_TypeError, "expected a contiguous array of objects");
        return NULL;
    }
    PyObject **items = PyArray_DATA((PyArrayObject *)texts);
    npy_intp count = PyArray_SIZE((PyArrayObject *)texts);
    for (npy_intp i = 0; i < count; i++) {
        if (!items[i] || !PyBytes_Check(items[i])) {
            PyErr_SetString(PyExc_TypeError, "expected byte strings");
            return NULL;
        }
        if (lengths) lengths[i] = PyBytes_GET_SIZE(items[i]);
        *size += PyBytes_GET_SIZE(items[i]);
    }
    return items;
}

static PyObject *lengths(PyObject *module, PyObject *arguments)
{
    PyObject *texts, *result;
    npy_intp size = 0;
    if (!PyArg_ParseTuple(arguments, "O!", &PyArray_Type, &texts)) return NULL;
    npy_intp count = PyArray_SIZE((PyArrayObject *)texts);
    result = PyArray_SimpleNew(1, &count, NPY_INT64);
    if (result && !strings_of(texts, PyArray_DATA((PyArrayObject *)result), &size)) Py_CLEAR(result);
    return result;
}

static PyObject *packed(PyObject *module, PyObject *arguments)
{
    PyObject *texts, *result;
    npy_intp size = 0;
    if (!PyArg_ParseTuple(arguments, "O!", &PyArray_Type, &texts)) return NULL;
    PyObject **items = strings_of(texts, NULL, &size);
    if (!items || !(result = PyArray_SimpleNew(1, &size, NPY_UINT8))) return NULL;
    char *at = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp i = 0, count = PyArray_SIZE((PyArrayObject *)texts); i < count; at += PyBytes_GET_SIZE(items[i]), i++)
        memcpy(at, PyBytes_AS_STRING(items[i]), PyBytes_GET_SIZE(items[i]));
    return result;
}

/* Whether a text is 1 to 18 digits, after a sign if `is_signed`. */
static int parse_integer(const char *text, Py_ssize_t size, int is_signed, int64_t *result)
{
    Py_ssize_t at = is_signed && (*text == '-' || *text == '+');
    int64_t value = 0;
    if (size <= at || size > 18 + at) return 0;
    for (; at < size; at++) {
        if (text[at] < '0' || text[at] > '9') return 0;
        value = 10 * value + (text[at] - '0');
    }
    *result = *text == '-' ? -value : value;
    return 1;
}

/* Whether a text is a decimal number; those that are too large are infinite. */
static int parse_float(const char *text, Py_ssize_t size, double *result)
{
    char *end;
    if (!size || (Py_ssize_t)strspn(text, "0123456789.+-eE") != size) return 0;
    *result = PyOS_string_to_double(text, &end, NULL);
    if (PyErr_Occurred()) PyErr_Clear();
    return end == text + size;
}

static PyObject *numbers(PyObject *module, PyObject *arguments)
{
    PyObject *texts, *result;
    npy_intp size = 0;
    int is_floating, is_signed;
    if (!PyArg_ParseTuple(arguments, "O!pp", &PyArray_Type, &texts, &is_floating, &is_signed)) return NULL;
    PyObject **items = strings_of(texts, NULL, &size);
    npy_intp count = PyArray_SIZE((PyArrayObject *)texts);
    if (!items || !(result = PyArray_SimpleNew(1, &count, is_floating ? NPY_DOUBLE : NPY_INT64))) return NULL;
    void *found = PyArray_DATA((PyArrayObject *)result);
    for (npy_intp i = 0; i < count; i++) {
        const char *text = PyBytes_AS_STRING(items[i]);
        Py_ssize_t length = PyBytes_GET_SIZE(items[i]);
        if (!(is_floating ? parse_float(text, length, (double *)found + i)
                          : parse_integer(text, length, is_signed, (int64_t *)found + i))) {
            Py_DECREF(result);
            Py_RETURN_NONE;
        }
    }
    return result;
}

static int is_vector(PyArrayObject *array, int type)
{
    return PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == 1 && PyArray_EquivTypenums(PyArray_TYPE(array), type);
}

static PyObject *cut(PyObject *module, PyObject *arguments)
{
    PyArrayObject *whole, *begins, *ends;
    if (!PyArg_ParseTuple(arguments, "O!O!O!", &PyArray_Type, &whole, &PyArray_Type, &begins, &PyArray_Type, &ends)) return NULL;
    if (!is_vector(whole, NPY_UINT8) || !is_vector(begins, NPY_INT64) || !is_vector(ends, NPY_INT64)
        || PyArray_SIZE(begins) != PyArray_SIZE(ends)) {
        PyErr_SetString(PyExc_TypeError, "expected bytes and two int64 vectors of one size");
        return NULL;
    }
    npy_intp count = PyArray_SIZE(begins), size = PyArray_SIZE(whole);
    const char *bytes = PyArray_DATA(whole);
    const int64_t *begin = PyArray_DATA(begins), *end = PyArray_DATA(ends);
    PyObject *result = PyArray_SimpleNew(1, &count, NPY_OBJECT); /* of NULL */
    PyObject **items = result ? PyArray_DATA((PyArrayObject *)result) : NULL;
    for (npy_intp i = 0; result && i < count; i++) {
        if (begin[i] < 0 || end[i] < begin[i] || end[i] > size)
            PyErr_SetString(PyExc_IndexError, "a part is outside of the bytes");
        else
            items[i] = PyBytes_FromStringAndSize(bytes + begin[i], (Py_ssize_t)(end[i] - begin[i]));
        if (!items[i]) Py_CLEAR(result);
    }
    return result;
}

static PyMethodDef functions[] = {
    {"lengths", lengths, METH_VARARGS, "lengths(texts)\n--\n\nReturn the lengths of byte strings."},
    {"numbers", numbers, METH_VARARGS,
     "numbers(texts, is_floating, is_signed)\n--\n\nReturn decimal numbers; None if a string is no such number, or a long integer."},
    {"packed", packed, METH_VARARGS, "packed(texts)\n--\n\nReturn the bytes of all strings."},
    {"cut", cut, METH_VARARGS, "cut(whole, begins, ends)\n--\n\nReturn parts of the bytes as strings."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_texts", "Convert byte strings to one array of bytes and back.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_texts(void)
{
    import_array();
    return PyModule_Create(&definition);
}

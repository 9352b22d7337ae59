/* Nests of Python's numbers as arrays, in one pass: an optional extension module.

   [[1.0, 2.0], [3.0, 4.0]]   →   float32[2, 2]
   [1, 2]                     →   int32[2]
   [1, 2.5]                   →   float32[2]
   [1, 2**40], [1e39], [[1], 2], [x]   →   None: conversion.py has the rules for these, and the errors */

#include "numpy_2.h"

#include <math.h>

#define MOST_DIMS 8
#define LARGE 1e38 /* a number from which float32 may have no room */

typedef struct {
    int rank, type;
    npy_intp sizes[MOST_DIMS];
    char *next; /* the element to be set */
} Literal;

static int is_list(PyObject *x) { return PyList_CheckExact(x) || PyTuple_CheckExact(x); }

/* Set rank and sizes by the first items. Return the first number as a borrowed reference; NULL if there is none. */
static PyObject *first_number(Literal *literal, PyObject *x)
{
    for (literal->rank = 0; is_list(x); literal->rank++) {
        Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
        if (literal->rank == MOST_DIMS || size == 0) return NULL;
        literal->sizes[literal->rank] = size;
        x = PySequence_Fast_GET_ITEM(x, 0);
    }
    return x;
}

/* Return the type of the elements, given the wanted dtype or None; NPY_NOTYPE for one that only Python converts. */
static int element_type(PyObject *number, PyObject *dtype)
{
    int is_float = PyFloat_CheckExact(number);
    if (!is_float && !PyLong_CheckExact(number)) return NPY_NOTYPE;
    if (dtype == Py_None) return is_float ? NPY_FLOAT32 : NPY_INT32;
    int type = PyArray_DescrCheck(dtype) && PyArray_ISNBO(((PyArray_Descr *)dtype)->byteorder)
        ? ((PyArray_Descr *)dtype)->type_num : NPY_NOTYPE;
    return type == NPY_FLOAT32 || type == NPY_FLOAT64 || type == NPY_INT32 || type == NPY_INT64 ? type : NPY_NOTYPE;
}

/* Set the next element; return whether the type has surely room for the number. */
static int put_number(Literal *literal, PyObject *x)
{
    int overflows = 0, is_float = PyFloat_CheckExact(x), type = literal->type;
    if (is_float ? type == NPY_INT32 || type == NPY_INT64 : !PyLong_CheckExact(x)) return 0;
    double real = is_float ? PyFloat_AS_DOUBLE(x) : 0.0;
    long long whole = is_float ? 0 : PyLong_AsLongLongAndOverflow(x, &overflows);
    if (overflows || whole < INT32_MIN || whole > INT32_MAX || (type == NPY_FLOAT32 && fabs(real) >= LARGE)) return 0;
    if (!is_float) real = (double)whole;
    switch (type) {
    case NPY_FLOAT32: *(npy_float32 *)literal->next = (npy_float32)real; break;
    case NPY_FLOAT64: *(npy_float64 *)literal->next = real; break;
    case NPY_INT32: *(npy_int32 *)literal->next = (npy_int32)whole; break;
    default: *(npy_int64 *)literal->next = whole;
    }
    literal->next += type == NPY_FLOAT32 || type == NPY_INT32 ? 4 : 8;
    return 1;
}

/* Set the elements of a nest from an axis on; return whether it has the sizes, and only numbers. */
static int put_items(Literal *literal, PyObject *x, int axis)
{
    if (axis == literal->rank) return put_number(literal, x);
    if (!is_list(x) || PySequence_Fast_GET_SIZE(x) != literal->sizes[axis]) return 0;
    for (Py_ssize_t i = 0; i < literal->sizes[axis]; i++)
        if (!put_items(literal, PySequence_Fast_GET_ITEM(x, i), axis + 1)) return 0;
    return 1;
}

/* Return a nest as an array of the type of the literal; None if it has other values, or its first items are long. */
static PyObject *array_of(Literal *literal, PyObject *x)
{
    PyObject *array = PyArray_SimpleNew(literal->rank, literal->sizes, literal->type);
    if (array == NULL) {
        PyErr_Clear(); /* no memory for these sizes, which a ragged nest does not have */
        Py_RETURN_NONE;
    }
    literal->next = PyArray_BYTES((PyArrayObject *)array);
    if (!put_items(literal, x, 0)) Py_SETREF(array, Py_NewRef(Py_None));
    return array;
}

static PyObject *literal_array(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Literal literal;
    if (count != 2) return PyErr_Format(PyExc_TypeError, "literal_array(value, dtype)");
    PyObject *number = first_number(&literal, args[0]);
    literal.type = number == NULL ? NPY_NOTYPE : element_type(number, args[1]);
    if (literal.type == NPY_NOTYPE) Py_RETURN_NONE;
    PyObject *array = array_of(&literal, args[0]);
    if (array != Py_None || args[1] != Py_None || literal.type != NPY_INT32) return array;
    Py_DECREF(array);
    literal.type = NPY_FLOAT32; /* integers, and then floats */
    return array_of(&literal, args[0]);
}

static PyMethodDef functions[] = {
    {"literal_array", (PyCFunction)(void (*)(void))literal_array, METH_FASTCALL,
     "literal_array(value, dtype)\n--\n\nReturn a number or a nest of them as an array, of the default dtype for None; "
     "None for other values."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_literals", "Nests of Python's numbers as arrays.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_literals(void)
{
    import_array();
    return PyModule_Create(&definition);
}

/* Patterns: how the arguments of a call hold the inputs of a kernel, and how its results become the result of the call.

   (x, {"w": w})   →   (TENSOR 0, DICT ("w",) (TENSOR 1))

   Matching runs no Python code, so that borrowed references stay valid. */

#include "native_kernel.h"

enum Mode { TENSOR, ARRAY, OBJECT, ALIVE, TUPLE, LIST, DICT };

typedef struct Pattern {
    enum Mode mode;
    PyObject *thing;   /* the object, its weak reference, or the tuple of a dict's keys */
    Py_ssize_t number; /* for a tensor or an array: the index of the input or the result */
    Py_ssize_t count;
    struct Pattern *parts;
} Pattern;

static void pattern_clear(Pattern *p)
{
    for (Py_ssize_t i = 0; i < p->count; i++) pattern_clear(&p->parts[i]);
    PyMem_Free(p->parts);
    p->parts = NULL;
    p->count = 0;
    Py_CLEAR(p->thing);
}

static int pattern_traverse(Pattern *p, visitproc visit, void *arg)
{
    Py_VISIT(p->thing);
    for (Py_ssize_t i = 0; i < p->count; i++) {
        int code = pattern_traverse(&p->parts[i], visit, arg);
        if (code) return code;
    }
    return 0;
}

static int mode_of(PyObject *kind, PyObject *thing)
{
    if (kind == (PyObject *)Tensor) return TENSOR;
    if (kind == (PyObject *)&PyArray_Type) return ARRAY;
    if (kind == (PyObject *)&PyBaseObject_Type) return OBJECT;
    if (kind == (PyObject *)Py_TYPE(thing) && PyWeakref_CheckRefExact(thing)) return ALIVE;
    if (kind == (PyObject *)&PyTuple_Type) return TUPLE;
    if (kind == (PyObject *)&PyList_Type) return LIST;
    if (kind == (PyObject *)&PyDict_Type) return DICT;
    PyErr_Format(PyExc_TypeError, "a pattern has no kind %R", kind);
    return -1;
}

/* Read (kind, thing, number, parts). `limit` is the number of inputs or results. */
static int pattern_init(Pattern *p, PyObject *described, Py_ssize_t limit)
{
    PyObject *kind, *thing, *parts;
    if (!PyTuple_Check(described)) {
        PyErr_SetString(PyExc_TypeError, "a pattern is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(described, "OOnO!", &kind, &thing, &p->number, &PyTuple_Type, &parts)) return -1;
    int mode = mode_of(kind, thing);
    if (mode < 0) return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    if (mode <= ARRAY ? p->number < 0 || p->number >= limit
                      : mode == DICT && (!PyTuple_CheckExact(thing) || PyTuple_GET_SIZE(thing) != count)) {
        PyErr_SetString(PyExc_ValueError, "the number or the keys of a pattern are out of range");
        return -1;
    }
    p->mode = mode;
    p->thing = Py_NewRef(thing);
    p->parts = PyMem_Calloc(count + 1, sizeof(Pattern));
    if (p->parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; p->count < count; p->count++)
        if (pattern_init(&p->parts[p->count], PyTuple_GET_ITEM(parts, p->count), limit) < 0) {
            p->count++; /* which holds what it has so far */
            return -1;
        }
    return 0;
}

static int is_target(PyObject *reference, PyObject *value)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *target = NULL;
    if (PyWeakref_GetRef(reference, &target) < 0) PyErr_Clear();
    int is_same = target == value; /* `value` is no NULL */
    Py_XDECREF(target);
    return is_same;
#else
    return PyWeakref_GET_OBJECT(reference) == value && value != Py_None;
#endif
}

/* Return whether an argument matches, and take its arrays. */
static int matches(const Pattern *p, PyObject *value, PyObject **arrays)
{
    PyObject *key, *part;
    Py_ssize_t place = 0;
    switch (p->mode) {
    case TENSOR:
        if (Py_TYPE(value) != Tensor) return 0;
        value = AT(value, array_offset);
        if (value == NULL) return 0;
        break;
    case ARRAY:
        if (!PyArray_CheckExact(value)) return 0;
        break;
    case OBJECT: return value == p->thing;
    case ALIVE: return is_target(p->thing, value);
    case TUPLE:
        if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++)
            if (!matches(&p->parts[i], PyTuple_GET_ITEM(value, i), arrays)) return 0;
        return 1;
    case LIST:
        if (!PyList_CheckExact(value) || PyList_GET_SIZE(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++)
            if (!matches(&p->parts[i], PyList_GET_ITEM(value, i), arrays)) return 0;
        return 1;
    case DICT:
        if (!PyDict_CheckExact(value) || PyDict_Size(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++) {
            if (!PyDict_Next(value, &place, &key, &part) || key != PyTuple_GET_ITEM(p->thing, i)) return 0;
            if (!matches(&p->parts[i], part, arrays)) return 0;
        }
        return 1;
    }
    set(&arrays[p->number], Py_NewRef(value));
    return 1;
}

/* Build the structured result from the tensors of a call. */
static PyObject *built(const Pattern *p, PyObject **tensors)
{
    if (p->mode == TENSOR) return Py_NewRef(tensors[p->number]);
    if (p->mode == OBJECT) return Py_NewRef(p->thing);
    if (p->mode < TUPLE) {
        PyErr_SetString(PyExc_TypeError, "a result is made of tensors, objects and nests");
        return NULL;
    }
    PyObject *nest = p->mode == TUPLE ? PyTuple_New(p->count) : p->mode == LIST ? PyList_New(p->count) : PyDict_New();
    for (Py_ssize_t i = 0; nest != NULL && i < p->count; i++) {
        PyObject *part = built(&p->parts[i], tensors);
        if (part == NULL) {
            Py_CLEAR(nest);
        } else if (p->mode == TUPLE) {
            PyTuple_SET_ITEM(nest, i, part);
        } else if (p->mode == LIST) {
            PyList_SET_ITEM(nest, i, part);
        } else {
            if (PyDict_SetItem(nest, PyTuple_GET_ITEM(p->thing, i), part) < 0) Py_CLEAR(nest);
            Py_DECREF(part);
        }
    }
    return nest;
}

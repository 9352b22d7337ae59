/* The watch lists of tapes: tensors from a call of `watch` on, trainable variables from their first use on.

   autodiff/tape.py has the same in Python, and sets the slots. */

#include "native_keys.h"

enum { TAPE_ACCESSED, TAPE_ALIVE, TAPE_BUILDER, TAPE_RECORDS, TAPE_TRACKED, TAPE_VARIABLES, TAPE_WATCHED, TAPE_SLOTS };
static const char *const tape_names[TAPE_SLOTS] = {
    "_watch_accessed_variables", "_alive", "_builder", "_records", "_tracked", "_variables", "_watched",
};
static Py_ssize_t tape_slots[TAPE_SLOTS];
static PyObject *name_accessed, *name_trainable, *name_kind;

/* Return whether a set of keys has that of an object; -1 with an exception. */
static int has_key_of(PyObject *keys, PyObject *x)
{
    PyObject *key = PyLong_FromVoidPtr(x);
    int found = key == NULL ? -1 : PySet_Contains(keys, key);
    Py_XDECREF(key);
    return found;
}

static int add_key_of(PyObject *keys, PyObject *x)
{
    PyObject *key = PyLong_FromVoidPtr(x);
    int failed = key == NULL ? -1 : PySet_Add(keys, key);
    Py_XDECREF(key);
    return failed;
}

/* Return whether a type of elements is continuous; -1 with an exception. */
static int is_continuous(PyObject *content)
{
    PyObject *dtype = PyObject_GetAttr(content, name_dtype), *kind = NULL;
    int found = 0;
    if (dtype != NULL) kind = PyObject_GetAttr(dtype, name_kind);
    if (kind != NULL && PyUnicode_Check(kind) && PyUnicode_GET_LENGTH(kind) > 0)
        found = PyUnicode_READ_CHAR(kind, 0) == 'f' || PyUnicode_READ_CHAR(kind, 0) == 'c';
    Py_XDECREF(dtype);
    Py_XDECREF(kind);
    return PyErr_Occurred() ? -1 : found;
}

/* Return whether tapes watch a variable when it is used: it is trainable, and continuous; -1 with an exception. */
static int is_watchable(PyObject *variable)
{
    PyObject *trainable = PyObject_GetAttr(variable, name_trainable), *content = NULL;
    int found = trainable == NULL ? -1 : PyObject_IsTrue(trainable);
    if (found > 0) content = PyObject_GetAttr(variable, name_spec);
    if (content != NULL) found = is_continuous(content);
    Py_XDECREF(trainable);
    Py_XDECREF(content);
    return PyErr_Occurred() ? -1 : found;
}

/* Watch a variable from the next record on; return 1, or -1 with an exception. */
static int watch_variable(PyObject *tape, PyObject *tracked, PyObject *x)
{
    PyObject *alive = AT(tape, tape_slots[TAPE_ALIVE]), *variables = AT(tape, tape_slots[TAPE_VARIABLES]);
    PyObject *watched = AT(tape, tape_slots[TAPE_WATCHED]), *records = AT(tape, tape_slots[TAPE_RECORDS]);
    if (alive == NULL || !PyList_CheckExact(alive) || variables == NULL || !PyDict_CheckExact(variables) || watched == NULL
        || !PyDict_CheckExact(watched) || records == NULL || !PyList_CheckExact(records)) {
        PyErr_SetString(PyExc_TypeError, "the tape does not record");
        return -1;
    }
    PyObject *key = PyLong_FromVoidPtr(x), *first = PyLong_FromSsize_t(PyList_GET_SIZE(records));
    int failed = key == NULL || first == NULL || PyList_Append(alive, x) < 0 || PyDict_SetItem(variables, key, x) < 0
        || PyDict_SetItem(watched, key, first) < 0 || PySet_Add(tracked, key) < 0;
    Py_XDECREF(key);
    Py_XDECREF(first);
    return failed ? -1 : 1;
}

/* Return whether a tape tracks an input of an operation; -1 with an exception. Variables are watched when they are read. */
static int is_tracked(PyObject *tape, PyObject *tracked, PyObject *x)
{
    int found = has_key_of(tracked, x);
    if (found != 0 || Py_IS_TYPE(x, Tensor) || IS_A(x, TensorArray)) return found;
    if (IS_A(x, Variable)) {
        PyObject *given = AT(tape, tape_slots[TAPE_ACCESSED]);
        int watches = given == NULL ? 0 : PyObject_IsTrue(given);
        if (watches > 0) watches = is_watchable(x);
        return watches > 0 ? watch_variable(tape, tracked, x) : watches;
    }
    PyObject *inputs = PyTuple_Pack(1, x);
    PyObject *nothing = inputs == NULL ? NULL : PyObject_CallMethodOneArg(tape, name_accessed, inputs);
    Py_XDECREF(inputs);
    Py_XDECREF(nothing);
    return nothing == NULL ? -1 : has_key_of(tracked, x);
}

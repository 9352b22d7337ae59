/* Programs of eager calls: what `EagerProgram` describes.

   tensors, constants   →   step: a call, or an operation, of earlier values   →   …   →   results

   `EagerProgram.run` in eager_calls.py does the same in Python. */

#include "native_calls.h"

enum { CONSTANTS, PACK, RESULTS, STEPS, PROGRAM_SLOTS };
static const char *const program_names[PROGRAM_SLOTS] = {"constants", "pack", "results", "steps"};
static Py_ssize_t program_slots[PROGRAM_SLOTS];

static PyObject *run_op(PyObject *op, PyObject *const *x, Py_ssize_t count, PyObject *recorders);

/* Append what a step of a program, a call and the positions of its inputs, returns to the values; -1 with an exception. */
static int run_step(PyObject *step, PyObject *values, PyObject *recorders)
{
    if (!PyTuple_CheckExact(step) || PyTuple_GET_SIZE(step) != 2 || !PyTuple_CheckExact(PyTuple_GET_ITEM(step, 1)))
        return PyErr_Format(PyExc_SystemError, "no step of a program: %R", step) == NULL ? -1 : 0;
    PyObject *call = PyTuple_GET_ITEM(step, 0), *positions = PyTuple_GET_ITEM(step, 1), *found, *inputs;
    Py_ssize_t count = 0, size = PyTuple_GET_SIZE(positions);
    if ((inputs = PyList_New(size)) == NULL) return -1;
    for (; count < size; count++) {
        PyObject *x = PyList_GetItem(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, count)));
        if (x == NULL) break;
        PyList_SET_ITEM(inputs, count, Py_NewRef(x));
    }
    if (count < size) found = NULL;
    else if (is_runnable(call)) found = run(call, inputs, recorders);
    else if (IS_A(call, EagerCall)) found = PyObject_CallMethod(call, "run", "OO", inputs, recorders);
    else found = run_op(call, ((PyListObject *)inputs)->ob_item, size, recorders);
    int failed = found == NULL ? -1 : 0;
    if (found != NULL && !PyList_CheckExact(found)) failed = PyList_Append(values, found);
    else if (found != NULL) failed = PyList_SetSlice(values, PyList_GET_SIZE(values), PyList_GET_SIZE(values), found);
    Py_XDECREF(found);
    Py_DECREF(inputs);
    return failed;
}

/* Return a value of a program with so many tensors; constants are copied. */
static PyObject *program_value(PyObject *values, PyObject *number, Py_ssize_t count, Py_ssize_t constants)
{
    Py_ssize_t position = PyLong_AsSsize_t(number);
    PyObject *x = PyList_GetItem(values, position);
    if (x == NULL || position < count || position >= count + constants || !Py_IS_TYPE(x, Tensor)) return Py_XNewRef(x);
    return new_tensor(PyArray_NewCopy((PyArrayObject *)AT(x, array_offset), NPY_KEEPORDER), Py_None);
}

/* Return the values of a program that are its result: one of them, or what `pack` makes of their list. */
static PyObject *packed(PyObject *program, PyObject *values, Py_ssize_t count)
{
    PyObject *at = AT(program, program_slots[RESULTS]), *pack = AT(program, program_slots[PACK]);
    Py_ssize_t size = PyTuple_GET_SIZE(at), constants = PyTuple_GET_SIZE(AT(program, program_slots[CONSTANTS]));
    if (pack == Py_None) return program_value(values, PyTuple_GetItem(at, 0), count, constants);
    PyObject *found = PyList_New(size), *result = NULL;
    for (Py_ssize_t i = 0; found != NULL && i < size; i++) {
        PyObject *x = program_value(values, PyTuple_GET_ITEM(at, i), count, constants);
        if (x != NULL) PyList_SET_ITEM(found, i, x);
        else Py_CLEAR(found);
    }
    if (found != NULL) result = pack == (PyObject *)&PyList_Type ? Py_NewRef(found) : PyObject_CallOneArg(pack, found);
    Py_XDECREF(found);
    return result;
}

/* Return the result of `EagerProgram.run`. */
static PyObject *run_program(PyObject *program, PyObject *tensors, PyObject *recorders)
{
    PyObject *constants = AT(program, program_slots[CONSTANTS]), *steps = AT(program, program_slots[STEPS]);
    PyObject *at = AT(program, program_slots[RESULTS]), *pack = AT(program, program_slots[PACK]), *values, *result = NULL;
    Py_ssize_t count = PyList_GET_SIZE(tensors);
    if (constants == NULL || at == NULL || steps == NULL || pack == NULL || !PyTuple_CheckExact(constants)
        || !PyTuple_CheckExact(at) || PyTuple_GET_SIZE(at) == 0 || !PyTuple_CheckExact(steps))
        return PyErr_Format(PyExc_SystemError, "no program: %R", program);
    if ((values = PyList_GetSlice(tensors, 0, count)) == NULL) return NULL;
    int failed = PyList_SetSlice(values, count, count, constants);
    for (Py_ssize_t i = 0; failed == 0 && i < PyTuple_GET_SIZE(steps); i++)
        failed = run_step(PyTuple_GET_ITEM(steps, i), values, recorders);
    if (failed == 0) result = packed(program, values, count);
    Py_DECREF(values);
    return result;
}

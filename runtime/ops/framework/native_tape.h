/* Records of tapes: what a tape does with an operation that ran eagerly.

   y = op(x)   →   x is watched, or depends on a watched tensor   →   EagerRecord(op, [x], attributes, [y]),   y is tracked

   autodiff/tape_recording.py has the same in Python. */

#include "native_watches.h"
#include "native_sites.h"

enum { RECORD_OP, RECORD_INPUTS, RECORD_ATTRS, RECORD_OUTPUTS, RECORD_SITE, RECORD_SLOTS };
static const char *const record_names[RECORD_SLOTS] = {"op", "inputs", "attrs", "outputs", "site"};

static PyObject *Tape, *Record, *KeptAttributes, *carries; /* set by `register` when tapes are imported */
static Py_ssize_t record_slots[RECORD_SLOTS];
static PyObject *read_variable, *no_attributes; /* the operation that reads a variable */
static PyObject *name_computed, *name_carries, *name_value;

/* Return whether an output carries gradients; -1 with an exception. */
static int is_carrier(PyObject *y)
{
    int is_tensor = Py_IS_TYPE(y, Tensor);
    PyObject *array = is_tensor ? AT(y, array_offset) : NULL;
    int type = array != NULL && PyArray_CheckExact(array) ? PyArray_TYPE((PyArrayObject *)array) : NPY_NOTYPE;
    if (type <= NPY_CLONGDOUBLE) return type >= NPY_FLOAT;
    PyObject *kind = is_tensor ? kind_in(y) : NULL, *answer = NULL, *content = IS_A(y, TensorArray) ? content_of(y) : NULL;
    if (content != NULL) {
        int is_known = is_continuous(content);
        Py_DECREF(content);
        return is_known;
    }
    if (PyErr_Occurred()) return -1;
    if (!is_tensor) answer = PyObject_CallOneArg(carries, y);
    else if (kind != NULL) answer = PyObject_GetAttr(kind, name_carries);
    int found = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(kind);
    Py_XDECREF(answer);
    return found;
}

/* Return a new record of an operation, inputs, attributes and outputs. */
static PyObject *new_record(PyObject *const *parts)
{
    PyObject *made = ((PyTypeObject *)Record)->tp_alloc((PyTypeObject *)Record, 0);
    for (int i = 0; made != NULL && i < RECORD_SITE; i++) AT(made, record_slots[i]) = Py_NewRef(parts[i]);
    return made;
}

/* Append a record, or a new one of `parts` if that is NULL, with the line of user code. */
static int add_record(PyObject *records, PyObject *record, PyObject *const *parts)
{
    PyObject *made = record == NULL ? new_record(parts) : Py_NewRef(record);
    if (made == NULL) return -1;
    Py_XSETREF(AT(made, record_slots[RECORD_SITE]), site());
    int failed = AT(made, record_slots[RECORD_SITE]) == NULL ? -1 : PyList_Append(records, made);
    Py_DECREF(made);
    return failed;
}

/* Record an operation, given as op, inputs, attributes and outputs, or as a record with these inputs and outputs, if the
   tape tracks an input. */
static int add_if_tracked(PyObject *tape, PyObject *record, PyObject *const *parts)
{
    PyObject *tracked = AT(tape, tape_slots[TAPE_TRACKED]), *records = AT(tape, tape_slots[TAPE_RECORDS]);
    PyObject *inputs = parts[RECORD_INPUTS], *outputs = parts[RECORD_OUTPUTS];
    int is_wanted = 0, failed = 0;
    if (tracked == NULL || !PySet_CheckExact(tracked) || records == NULL || !PyList_CheckExact(records)) {
        PyErr_SetString(PyExc_TypeError, "the tape does not record");
        return -1;
    }
    Py_INCREF(tracked);
    Py_INCREF(records);
    if ((inputs = PySequence_Fast(inputs, "inputs")) == NULL) failed = -1;
    for (Py_ssize_t i = 0; failed == 0 && i < PySequence_Fast_GET_SIZE(inputs); i++) {
        int found = is_tracked(tape, tracked, PySequence_Fast_GET_ITEM(inputs, i));
        if (found < 0) failed = -1;
        is_wanted |= found > 0;
    }
    outputs = failed == 0 && is_wanted ? PySequence_Fast(outputs, "outputs") : NULL;
    if (is_wanted && failed == 0) failed = outputs == NULL ? -1 : add_record(records, record, parts);
    for (Py_ssize_t i = 0; failed == 0 && outputs != NULL && i < PySequence_Fast_GET_SIZE(outputs); i++) {
        PyObject *y = PySequence_Fast_GET_ITEM(outputs, i);
        int carries_any = is_carrier(y);
        failed = carries_any > 0 ? add_key_of(tracked, y) : carries_any;
    }
    Py_DECREF(tracked);
    Py_DECREF(records);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return failed;
}

static int tape_computed(PyObject *tape, PyObject *const *parts)
{
    return AT(tape, tape_slots[TAPE_BUILDER]) == Py_None ? add_if_tracked(tape, NULL, parts) : 0;
}

/* Return whether a list has only eager tensors, variables and TensorArrays, whose keys are their addresses. */
static int are_eager(PyObject *values)
{
    int found = values != NULL && PyList_CheckExact(values);
    for (Py_ssize_t i = 0; found && i < PyList_GET_SIZE(values); i++) {
        PyObject *x = PyList_GET_ITEM(values, i);
        found = Py_IS_TYPE(x, Tensor) || IS_A(x, Variable) || IS_A(x, TensorArray);
    }
    return found;
}

/* Append a record with a VJP of its own if the tape tracks an input; return False if Python has to do so. */
static PyObject *keep_on_tape(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || Tape == NULL || !PyObject_TypeCheck(args[0], (PyTypeObject *)Tape) || Record == NULL)
        return PyErr_Format(PyExc_TypeError, "tape_keep(tape, record)");
    if (!PyObject_TypeCheck(args[1], ((PyTypeObject *)Record)->tp_base) || AT(args[0], tape_slots[TAPE_BUILDER]) != Py_None)
        Py_RETURN_FALSE;
    PyObject *inputs = AT(args[1], record_slots[RECORD_INPUTS]), *outputs = AT(args[1], record_slots[RECORD_OUTPUTS]);
    if (!are_eager(inputs) || !are_eager(outputs)) Py_RETURN_FALSE;
    PyObject *parts[] = {NULL, inputs, NULL, outputs};
    return add_if_tracked(args[0], args[1], parts) < 0 ? NULL : Py_NewRef(Py_True);
}

static PyObject *computed_on_tape(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || Tape == NULL || !PyObject_TypeCheck(args[0], (PyTypeObject *)Tape))
        return PyErr_Format(PyExc_TypeError, "tape_computed(tape, op, inputs, attrs, outputs)");
    if (tape_computed(args[0], args + 1) < 0) return NULL;
    Py_RETURN_NONE;
}

static int record(PyObject *recorders, PyObject *op, PyObject *tensors, PyObject *attributes, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(recorders); i++) {
        PyObject *arguments[] = {Py_NewRef(PyList_GET_ITEM(recorders, i)), op, tensors, attributes, outputs};
        PyObject *nothing = NULL;
        int failed = 0;
        if (Tape != NULL && IS_A(arguments[0], Tape)) failed = tape_computed(arguments[0], arguments + 1);
        else failed = (nothing = PyObject_VectorcallMethod(name_computed, arguments, 5, NULL)) == NULL ? -1 : 0;
        Py_DECREF(arguments[0]);
        Py_XDECREF(nothing);
        if (failed != 0) return -1;
    }
    return 0;
}

/* Record an operation with one or two inputs. */
static int record_few(PyObject *recorders, PyObject *op, PyObject *kept, PyObject *const *x, int size, PyObject *y)
{
    PyObject *inputs = size == 1 ? PyTuple_Pack(1, x[0]) : PyTuple_Pack(2, x[0], x[1]), *outputs = PyTuple_Pack(1, y);
    int failed = inputs == NULL || outputs == NULL ? -1 : record(recorders, op, inputs, kept, outputs);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return failed;
}

/* Return the present value of a variable, and record the read. */
static PyObject *value_of_variable(PyObject *variable, PyObject *recorders)
{
    if (read_variable == NULL) return PyObject_CallMethodNoArgs(variable, name_value); /* which imports the operation */
    PyObject *value = new_tensor(PyObject_GetAttr(variable, name_array), Py_None);
    if (value != NULL && PyList_GET_SIZE(recorders) > 0
        && record_few(recorders, read_variable, no_attributes, &variable, 1, value) < 0)
        Py_CLEAR(value);
    return value;
}

static PyObject *read_recorded(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyList_CheckExact(args[1]) || read_variable == NULL)
        return PyErr_Format(PyExc_TypeError, "read(variable, recorders)");
    return value_of_variable(args[0], args[1]);
}

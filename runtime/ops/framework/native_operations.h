/* Operations as callables: what an operation returns for arguments that it has accepted before.

   op(x, axis=1)   →   key   →   EagerCall   →   native_calls.h
                       no EagerCall: `op._converted`, the complete way in Python

   op.py has the same in Python. */

#include "native_elementwise.h"

/* Return the recorders of this thread, as a new reference; NULL if operations take the way in Python. */
static PyObject *eager_recorders(void)
{
    static uint64_t finder; /* the thread whose recorders `found_recorders` has */
    if (PyList_GET_SIZE(busy) == 0) return Py_NewRef(no_recorders); /* no thread builds a graph or records */
    uint64_t thread = PyThreadState_GetID(PyThreadState_Get());
    if (thread == finder && PyList_GET_SIZE(found_recorders) > 0) return Py_NewRef(PyList_GET_ITEM(found_recorders, 0));
    PyObject *observed = PyObject_GetAttr(placement, name_observed), *recorders = NULL;
    if (observed == Py_False) recorders = PyObject_GetAttr(stack, name_recorders);
    if (recorders != NULL && !PyList_CheckExact(recorders)) Py_CLEAR(recorders);
    if (recorders != NULL && PyList_SetSlice(found_recorders, 0, PY_SSIZE_T_MAX, NULL) == 0
        && PyList_Append(found_recorders, recorders) == 0)
        finder = thread;
    else if (recorders != NULL) Py_CLEAR(recorders); /* no memory */
    Py_XDECREF(observed);
    return recorders;
}

static void set_field(PyObject **field, PyObject *value)
{
    Py_XSETREF(*field, Py_XNewRef(value));
}

/* Read what an operation has when it is called for the first time, or has got another kernel; -1 with an exception. */
static int prepare(EagerOp *self)
{
    PyObject *fields = PyObject_CallMethodNoArgs(self->op, name_fields);
    PyObject *calls, *python, *converted, *compute = NULL, *accepted = NULL, *kept = NULL, *ufunc = Py_None;
    int operands = 0, on_numbers = 0, is_closed = 0, is_light = 0, by_reference;
    if (fields == NULL) return -1;
    int failed = !PyArg_ParseTuple(fields, "O!OOp|iOO!OppOp", &PyDict_Type, &calls, &python, &converted, &by_reference,
                                   &operands, &compute, &PySet_Type, &accepted, &kept, &on_numbers, &is_closed, &ufunc,
                                   &is_light);
    if (!failed && operands > (compute == NULL ? 0 : 2))
        failed = !PyErr_Format(PyExc_TypeError, "an elementwise operation takes one or two tensors");
    if (!failed && ufunc != Py_None && !Py_IS_TYPE(ufunc, &PyUFunc_Type))
        failed = !PyErr_Format(PyExc_TypeError, "%R is no function of NumPy on elements", ufunc);
    if (!failed) {
        set_field(&self->calls, calls);
        set_field(&self->python, python);
        set_field(&self->converted, converted);
        set_field(&self->compute, compute);
        set_field(&self->accepted, accepted);
        set_field(&self->kept, kept);
        set_field(&self->ufunc, ufunc);
        self->operands = operands;
        self->on_numbers = on_numbers;
        self->is_closed = is_closed;
        self->is_light = is_light;
        self->by_reference = by_reference;
    }
    Py_DECREF(fields);
    return failed ? -1 : 0;
}

/* Return whether the fields of an operation are current; -1 with an exception. */
static int is_prepared(EagerOp *self)
{
    if (self->calls == NULL) return prepare(self);
    if (self->operands == 0) return 0;
    PyObject *compute = PyObject_GetAttr(self->op, name_compute);
    Py_XDECREF(compute);
    return compute == NULL ? -1 : compute == self->compute ? 0 : prepare(self);
}

/* Let the operation convert and check all arguments. */
static PyObject *run_converted(EagerOp *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *key,
                               Py_ssize_t given, PyObject *types)
{
    PyObject *positional = PyTuple_New(count), *named = PyDict_New(), *number = PyLong_FromSsize_t(given), *result = NULL;
    int failed = positional == NULL || named == NULL || number == NULL;
    for (Py_ssize_t i = 0; !failed && i < count; i++) PyTuple_SET_ITEM(positional, i, Py_NewRef(args[i]));
    for (Py_ssize_t i = 0; !failed && names != NULL && i < PyTuple_GET_SIZE(names); i++)
        failed = PyDict_SetItem(named, PyTuple_GET_ITEM(names, i), args[count + i]) < 0;
    if (!failed) result = PyObject_CallFunctionObjArgs(self->converted, positional, named, key, number, types, NULL);
    Py_XDECREF(positional);
    Py_XDECREF(named);
    Py_XDECREF(number);
    return result;
}

/* Set arguments, of which numbers become tensors of given dtypes; return whether that succeeded. */
static int set_tensors(PyObject **given, PyObject *const *args, Py_ssize_t count, PyObject *dtypes)
{
    if (count > ARRAYS || count != PyList_GET_SIZE(dtypes)) return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *dtype = PyList_GET_ITEM(dtypes, i);
        if (!PyArray_DescrCheck(dtype)) given[i] = Py_NewRef(args[i]);
        else given[i] = new_tensor(PyArray_FromAny(args[i], (PyArray_Descr *)Py_NewRef(dtype), 0, 0, 0, NULL), Py_None);
        if (given[i] == NULL) return 0;
    }
    return 1;
}

/* Return the result of a call without a key of its own, whose numbers become tensors if the others of its types did. */
static PyObject *run_new(EagerOp *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *recorders,
                         Key *key, PyObject *parts)
{
    PyObject *given[ARRAYS] = {NULL}, *types = types_in(key, parts), *dtypes = NULL, *result = NULL;
    Py_ssize_t all = count + (names == NULL ? 0 : PyTuple_GET_SIZE(names));
    if (types != NULL) dtypes = Py_XNewRef(PyDict_GetItemWithError(self->calls, types));
    if (dtypes != NULL && PyList_CheckExact(dtypes) && set_tensors(given, args, all, dtypes))
        result = run_kept(self, given, count, names, recorders, OR_CONVERT);
    else if (types != NULL && !PyErr_Occurred())
        result = run_converted(self, args, count, names, parts, PyList_GET_SIZE(key->tensors), types);
    for (Py_ssize_t i = 0; i < ARRAYS && given[i] != NULL; i++) Py_DECREF(given[i]);
    Py_XDECREF(types);
    Py_XDECREF(dtypes);
    return result;
}

/* Return the result of the call that is kept for these arguments; else that of the operation itself, or NULL. */
static PyObject *run_kept(EagerOp *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *recorders,
                          Otherwise otherwise)
{
    Key key;
    key.count = key.usual = 0;
    key.tensors = PyList_New(0);
    key.recorders = self->by_reference ? NULL : recorders;
    if (key.tensors == NULL) return NULL;
    PyObject *result = NULL, *parts = NULL, *call = NULL;
    int has_key = put_arguments(&key, args, count, names);
    if (has_key) parts = taken(&key);
    if (parts != NULL) call = Py_XNewRef(kept_call(self->calls, &parts, key.tensors));
    if (!PyErr_Occurred()) {
        if (call != NULL && is_runnable(call)) result = run(call, key.tensors, recorders);
        else if (call != NULL && IS_A(call, EagerProgram)) result = run_program(call, key.tensors, recorders);
        else if (otherwise == OR_CONVERT && parts != NULL && call == NULL)
            result = run_new(self, args, count, names, recorders, &key, parts);
        else if (otherwise == OR_COUNT && parts != NULL && call == NULL) {
            if (PyDict_GET_SIZE(self->calls) < MOST_KEPT) PyDict_SetItem(self->calls, parts, Py_None);
        } else if (otherwise == OR_CONVERT || (otherwise == OR_COUNT && call == Py_None))
            result = run_converted(self, args, count, names, has_key && call != Py_False ? parts : Py_None,
                                   PyList_GET_SIZE(key.tensors), Py_None);
    }
    for (Py_ssize_t i = 0; i < key.count; i++) Py_DECREF(key.parts[i]);
    Py_XDECREF(call);
    Py_XDECREF(parts);
    Py_DECREF(key.tensors);
    return result;
}

/* Return the result of a program on a list of tensors, recorded by a list of recorders. */
static PyObject *run_given(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !IS_A(args[0], EagerProgram) || !PyList_CheckExact(args[1]) || !PyList_CheckExact(args[2]))
        return PyErr_Format(PyExc_TypeError, "run_program(program, tensors, recorders)");
    return run_program(args[0], args[1], args[2]);
}

static PyObject *call_op(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    EagerOp *self = (EagerOp *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    if (is_prepared(self) < 0) return NULL;
    PyObject *recorders = eager_recorders(), *result = Py_None;
    if (recorders == NULL) return PyErr_Occurred() ? NULL : PyObject_Vectorcall(self->python, args, flags, names);
    if (self->operands > 0 && self->operands == count && names == NULL) {
        result = elementwise(self, args, recorders);
        if (result == Py_None) Py_DECREF(result);
    }
    if (result == Py_None) result = run_kept(self, args, count, names, recorders, OR_CONVERT);
    Py_DECREF(recorders);
    return result;
}

static void forget_op(PyObject *object)
{
    EagerOp *self = (EagerOp *)object;
    PyObject *fields[] = {
        self->op, self->calls, self->python, self->converted, self->compute, self->accepted, self->kept,
        self->ufunc,
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) Py_XDECREF(fields[i]);
    Py_TYPE(object)->tp_free(object);
}

static PyTypeObject EagerOpType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "agc.runtime.EagerOp",
    .tp_basicsize = sizeof(EagerOp),
    .tp_dealloc = forget_op,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(EagerOp, vectorcall),
    .tp_call = PyVectorcall_Call,
};

/* Return the result of an operation in a program, whose recorders are those of this thread. */
static PyObject *run_op(PyObject *op, PyObject *const *x, Py_ssize_t count, PyObject *recorders)
{
    EagerOp *self = (EagerOp *)op;
    if (Py_IS_TYPE(op, &EagerOpType) && is_prepared(self) == 0 && self->operands > 0 && self->operands == count) {
        PyObject *result = elementwise(self, x, recorders);
        if (result != Py_None) return result;
        Py_DECREF(result);
    }
    return PyErr_Occurred() ? NULL : PyObject_Vectorcall(op, x, count, NULL);
}

/* Return the callable in the slot `__call__` of an operation. */
static PyObject *caller(PyObject *module, PyObject *op)
{
    EagerOp *made = (EagerOp *)EagerOpType.tp_alloc(&EagerOpType, 0);
    if (made == NULL) return NULL;
    made->vectorcall = call_op;
    made->op = Py_NewRef(op);
    return (PyObject *)made;
}

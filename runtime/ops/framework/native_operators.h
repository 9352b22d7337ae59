/* Methods of tensors and variables that call operations: operators, `tensor[key]`, and assignments.

   x + y             →   the first operation that accepts the operands   →   the method in Python
   x[i]              →   a view of the array; on a tape, the kept call of the operation
   v.assign_add(d)   →   the loop of NumPy on the array of `v`, or the kept call of the operation */

#include "native_operations.h"
#include "native_index.h"

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *method, *ops; /* the method in Python, and a tuple of the callables of elementwise operations */
    PyObject *ufunc;        /* of an assignment: what it does with the value and its operand; else NULL */
    PyObject *kept;         /* of an assignment: the attributes that tapes record; else NULL */
    int is_reflected;
} Operator;

/* Return the result of the first operation that accepts the operands, else that of the method. */
static PyObject *call_operator(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Operator *self = (Operator *)object;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    int is_eager = names == NULL && count > 0 && (Py_IS_TYPE(args[0], Tensor) || IS_A(args[0], Variable));
    PyObject *recorders = is_eager ? eager_recorders() : NULL, *result = Py_None;
    PyObject *operands[] = {args[self->is_reflected && count > 1], count < 2 ? NULL : args[!self->is_reflected]};
    for (Py_ssize_t i = 0; recorders != NULL && result == Py_None && i < PyTuple_GET_SIZE(self->ops); i++) {
        EagerOp *op = (EagerOp *)PyTuple_GET_ITEM(self->ops, i);
        if (is_prepared(op) < 0) result = NULL;
        else if (op->operands == count) result = elementwise(op, operands, recorders);
        if (result == Py_None) Py_DECREF(result);
    }
    Py_XDECREF(recorders);
    if (result != Py_None || PyErr_Occurred()) return result == Py_None ? NULL : result;
    return PyObject_Vectorcall(self->method, args, flags, names);
}

/* Return `tensor[index]` for tapes: as a kept call, whose integers are constants, or with its integers as operands. */
static PyObject *recorded_item(EagerOp *op, PyObject *x, PyObject *index, PyObject *recorders)
{
    PyObject *given[] = {x, index}, *result = NULL;
    if (is_prepared(op) < 0) return NULL;
    if (has_bounds(index)) result = run_kept(op, given, 2, NULL, recorders, OR_NOTHING);
    if (result == NULL && !PyErr_Occurred()) result = indexed_on_tapes(x, index, recorders);
    if (result == NULL && !PyErr_Occurred()) result = run_kept(op, given, 2, NULL, recorders, OR_CONVERT);
    return result;
}

/* Return `tensor[key]` as a view; or as the kept call of the operation does, for tapes; or as the method does. */
static PyObject *call_getitem(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Operator *self = (Operator *)object;
    int is_eager = names == NULL && PyVectorcall_NARGS(flags) == 2 && Py_IS_TYPE(args[0], Tensor);
    PyObject *recorders = is_eager ? eager_recorders() : NULL, *result = NULL;
    PyObject *index = recorders == NULL ? NULL : plain_index(args[1]);
    if (index != NULL && PyList_GET_SIZE(recorders) == 0) result = indexed(args[0], index);
    else if (index != NULL) result = recorded_item((EagerOp *)PyTuple_GET_ITEM(self->ops, 0), args[0], index, recorders);
    Py_XDECREF(index);
    Py_XDECREF(recorders);
    return result != NULL || PyErr_Occurred() ? result : PyObject_Vectorcall(self->method, args, flags, names);
}

/* Return an operand for a variable of one dtype: a tensor of this dtype, or a number; else NULL. */
static PyObject *operand_for(PyObject *variable, PyObject *x)
{
    PyObject *array = PyObject_GetAttr(variable, name_array), *found = NULL;
    if (array != NULL && PyArray_CheckExact(array)) {
        PyObject *dtype = (PyObject *)PyArray_DESCR((PyArrayObject *)array), *other = NULL;
        if (!Py_IS_TYPE(x, Tensor)) found = number(dtype, x);
        else if ((other = AT(x, array_offset)) != NULL && PyArray_CheckExact(other)
                 && (PyObject *)PyArray_DESCR((PyArrayObject *)other) == dtype)
            found = Py_NewRef(x);
    }
    Py_XDECREF(array);
    if (found == Py_None) Py_CLEAR(found);
    return found;
}

/* Return `Assigned(variable)`, as `_assigned` of variable.py does. */
static PyObject *handle_to(PyObject *variable)
{
    PyObject *made = ((PyTypeObject *)Assigned)->tp_alloc((PyTypeObject *)Assigned, 0);
    if (made != NULL && PyObject_GenericSetAttr(made, name_variable, variable) < 0) Py_CLEAR(made);
    return made;
}

/* Set a variable to a tensor of its shape and dtype, or to ufunc(variable, tensor) in new memory, as tapes may refer to the
   old value, and record that. Return whether that was possible; -1 with an exception. */
static int is_replaced(Operator *self, PyObject *variable, PyObject *x, PyObject *recorders)
{
    PyObject *old = new_tensor(PyObject_GetAttr(variable, name_array), Py_None), *found = NULL;
    if (old == NULL) return -1;
    PyArrayObject *before = (PyArrayObject *)AT(old, array_offset), *given = (PyArrayObject *)AT(x, array_offset);
    PyObject *operands[] = {old, x}, *recorded[] = {variable, x};
    if (PyArray_SAMESHAPE(before, given))
        found = self->ufunc == NULL ? Py_NewRef(given) : looped(self->ufunc, operands, 2);
    Py_DECREF(old);
    if (found == NULL) return PyErr_Occurred() ? -1 : 0;
    PyObject *state = PyObject_GenericGetDict(variable, NULL), *new = new_tensor(found, Py_None);
    int failed = state == NULL || new == NULL || PyDict_SetItem(state, name_array, found) < 0
        || record_few(recorders, ((EagerOp *)PyTuple_GET_ITEM(self->ops, 0))->op, self->kept, recorded, 2, new) < 0;
    Py_XDECREF(state);
    Py_XDECREF(new);
    return failed ? -1 : 1;
}

/* Update a variable at once; return whether that was possible, -1 with an exception. */
static int is_assigned(Operator *self, PyObject *variable, PyObject *operand, PyObject *recorders)
{
    if (PyList_GET_SIZE(recorders) == 0) return is_updated(variable, self->ufunc, operand);
    return is_replaced(self, variable, operand, recorders);
}

/* Return a handle to a variable after the kept call of an assignment; or the result of the method. */
static PyObject *call_assignment(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Operator *self = (Operator *)object;
    EagerOp *op = (EagerOp *)PyTuple_GET_ITEM(self->ops, 0);
    int is_eager = names == NULL && PyVectorcall_NARGS(flags) == 2 && IS_A(args[0], Variable);
    PyObject *recorders = is_eager ? eager_recorders() : NULL, *result = NULL;
    PyObject *operand = recorders == NULL ? NULL : operand_for(args[0], args[1]);
    int is_done = operand == NULL ? 0 : is_assigned(self, args[0], operand, recorders);
    if (is_done > 0) result = Py_NewRef(Py_None);
    else if (is_done == 0 && operand != NULL && is_prepared(op) == 0) {
        PyObject *given[] = {args[0], operand, Py_None}; /* as in the method, which keeps the call */
        result = run_kept(op, given, 3, NULL, recorders, OR_NOTHING);
    }
    if (result != NULL) Py_SETREF(result, handle_to(args[0]));
    Py_XDECREF(operand);
    Py_XDECREF(recorders);
    return result != NULL || PyErr_Occurred() ? result : PyObject_Vectorcall(self->method, args, flags, names);
}

static PyObject *bound_operator(PyObject *self, PyObject *object, PyObject *type)
{
    return object == NULL ? Py_NewRef(self) : PyMethod_New(self, object);
}

static PyObject *attribute_of_operator(PyObject *self, PyObject *name)
{
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
    PyErr_Clear();
    return PyObject_GetAttr(((Operator *)self)->method, name);
}

static void forget_operator(PyObject *object)
{
    Py_XDECREF(((Operator *)object)->method);
    Py_XDECREF(((Operator *)object)->ops);
    Py_XDECREF(((Operator *)object)->ufunc);
    Py_XDECREF(((Operator *)object)->kept);
    Py_TYPE(object)->tp_free(object);
}

/* Return the class of functions, which methods are for `inspect` and for the specifications of mocks. */
static PyObject *class_of_operator(PyObject *self, void *closure)
{
    return Py_NewRef(&PyFunction_Type);
}

/* Return the name by which pickles find the operator, as they do functions. */
static PyObject *reduced_operator(PyObject *self, PyObject *nothing)
{
    return PyObject_GetAttrString(((Operator *)self)->method, "__qualname__");
}

static PyMethodDef methods_of_operator[] = {
    {"__reduce__", reduced_operator, METH_NOARGS, NULL},
    {NULL},
};

static PyObject *doc_of_operator(PyObject *self, void *closure)
{
    return PyObject_GetAttrString(((Operator *)self)->method, "__doc__");
}

static PyGetSetDef getters_of_operator[] = {
    {"__doc__", doc_of_operator, NULL, NULL, NULL},
    {"__class__", class_of_operator, NULL, NULL, NULL},
    {NULL},
};

static PyMemberDef members_of_operator[] = {
    {"__func__", T_OBJECT_EX, offsetof(Operator, method), READONLY, NULL},
    {NULL},
};

static PyTypeObject OperatorType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "agc.runtime.Operator",
    .tp_basicsize = sizeof(Operator),
    .tp_dealloc = forget_operator,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
    .tp_vectorcall_offset = offsetof(Operator, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_descr_get = bound_operator,
    .tp_getattro = attribute_of_operator,
    .tp_methods = methods_of_operator,
    .tp_getset = getters_of_operator,
    .tp_members = members_of_operator,
};

/* Return an `Operator` of a kind of calls, given a method and a tuple of operations, of which `most` are allowed. */
static PyObject *operator_of(vectorcallfunc vectorcall, Py_ssize_t most, PyObject *method, PyObject *ops, int is_reflected)
{
    int is_valid = PyTuple_GET_SIZE(ops) <= most;
    for (Py_ssize_t i = 0; is_valid && i < PyTuple_GET_SIZE(ops); i++)
        is_valid = Py_IS_TYPE(PyTuple_GET_ITEM(ops, i), &EagerOpType);
    if (!is_valid) return PyErr_Format(PyExc_TypeError, "these are no callables of operations: %R", ops);
    Operator *made = (Operator *)OperatorType.tp_alloc(&OperatorType, 0);
    if (made == NULL) return NULL;
    made->vectorcall = vectorcall;
    made->method = Py_NewRef(method);
    made->ops = Py_NewRef(ops);
    made->is_reflected = is_reflected;
    return (PyObject *)made;
}

static PyObject *make_operator(PyObject *module, PyObject *args)
{
    PyObject *method, *ops;
    int is_reflected;
    if (!PyArg_ParseTuple(args, "OO!p", &method, &PyTuple_Type, &ops, &is_reflected)) return NULL;
    return operator_of(call_operator, PY_SSIZE_T_MAX, method, ops, is_reflected);
}

static PyObject *make_getitem(PyObject *module, PyObject *args)
{
    PyObject *method, *op;
    if (!PyArg_ParseTuple(args, "OO", &method, &op)) return NULL;
    PyObject *ops = PyTuple_Pack(1, op), *made = ops == NULL ? NULL : operator_of(call_getitem, 1, method, ops, 0);
    Py_XDECREF(ops);
    return made;
}

static PyObject *make_assignment(PyObject *module, PyObject *args)
{
    PyObject *method, *op, *kept, *ufunc = NULL;
    if (!PyArg_ParseTuple(args, "OOO|O!", &method, &op, &kept, &PyUFunc_Type, &ufunc)) return NULL;
    PyObject *ops = PyTuple_Pack(1, op), *made = ops == NULL ? NULL : operator_of(call_assignment, 1, method, ops, 0);
    if (made != NULL) {
        ((Operator *)made)->kept = Py_NewRef(kept);
        ((Operator *)made)->ufunc = Py_XNewRef(ufunc);
    }
    Py_XDECREF(ops);
    return made;
}

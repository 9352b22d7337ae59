/* Operations as callables: what an operation returns for arguments that it has accepted before.

   op(x, axis=1)   →   key   →   EagerCall   →   native_calls.h
                       no EagerCall: `op._converted`, the complete way in Python
   x + y           →   arrays of one accepted dtype   →   kernel   →   tensor

   op.py and op_families.py have the same in Python. */

#include "native_calls.h"

/* Elementwise operations ----------------------------------------------------------------------------------------- */

/* Return a number as a tensor, which no other number of its class equals, and cache that. */
static PyObject *new_number(PyObject *key, int type, PyObject *value)
{
    PyObject *array = PyArray_SimpleNew(0, NULL, type);
    if (array != NULL && PyArray_SETITEM((PyArrayObject *)array, PyArray_BYTES((PyArrayObject *)array), value) < 0)
        Py_CLEAR(array);
    PyObject *made = new_tensor(array, Py_None);
    if (PyDict_GET_SIZE(numbers) >= MOST_NUMBERS) PyDict_Clear(numbers);
    if (made != NULL && PyDict_SetItem(numbers, key, made) < 0) Py_CLEAR(made);
    return made;
}

/* Return a number next to an array of a dtype as a tensor; None if Python must convert it. */
static PyObject *number(PyObject *dtype, PyObject *value)
{
    int is_float = PyFloat_CheckExact(value), is_zero = is_float && PyFloat_AS_DOUBLE(value) == 0.0;
    if (is_float || PyLong_CheckExact(value)) {
        int type = ((PyArray_Descr *)dtype)->type_num, is_whole = type == NPY_INT || type == NPY_LONG;
        PyObject *same = is_zero ? PyObject_Str(value) : Py_NewRef(value); /* 0.0 and -0.0 are equal */
        PyObject *key = same == NULL ? NULL : PyTuple_Pack(3, dtype, Py_TYPE(value), same);
        Py_XDECREF(same);
        PyObject *found = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(numbers, key));
        int is_plain = type == NPY_FLOAT || type == NPY_DOUBLE || (is_whole && !is_float);
        if (found == NULL && !PyErr_Occurred() && is_plain && is_usual_number(value)) found = new_number(key, type, value);
        Py_XDECREF(key);
        if (found != NULL || PyErr_Occurred()) return found;
    }
    return PyObject_CallFunctionObjArgs(operand, dtype, value, NULL);
}

/* Set one or two operands as tensors. Return 0 if one cannot be, -1 with an exception. */
static int set_operands(PyObject **x, PyObject *const *given, int size, PyObject *recorders)
{
    int missing = -1;
    for (int i = 0; i < size; i++) {
        if (Py_IS_TYPE(given[i], Tensor)) x[i] = Py_NewRef(given[i]);
        else if (IS_A(given[i], Variable)) {
            PyObject *owner = PyObject_GetAttr(given[i], name_owner);
            Py_XDECREF(owner);
            if (owner != Py_None) return owner == NULL ? -1 : 0;
            if ((x[i] = value_of_variable(given[i], recorders)) == NULL) return -1;
        } else missing = missing < 0 ? i : size;
    }
    if (missing < 0) return 1;
    PyObject *other = missing == size || size == 1 ? NULL : AT(x[1 - missing], array_offset);
    if (other == NULL || !PyArray_CheckExact(other)) return 0;
    x[missing] = number((PyObject *)PyArray_DESCR((PyArrayObject *)other), given[missing]);
    if (x[missing] == Py_None) Py_CLEAR(x[missing]);
    return x[missing] != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* Return the abstract value of a result that has the type of an operand; else None. */
static PyObject *same_kind(PyObject *found, PyObject *x)
{
    PyArrayObject *y = (PyArrayObject *)found, *array = (PyArrayObject *)AT(x, array_offset);
    int is_same = PyArray_CheckExact(found) && PyArray_DESCR(y) == PyArray_DESCR(array)
        && PyArray_NDIM(y) == PyArray_NDIM(array)
        && PyArray_CompareLists(PyArray_DIMS(y), PyArray_DIMS(array), PyArray_NDIM(y));
    PyObject *kind = is_same ? AT(x, kind_offset) : NULL;
    return kind == NULL ? Py_None : kind;
}

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *op, *calls, *python, *converted; /* the operation, its kept calls, and two methods: see `Op._fields` */
    PyObject *compute, *accepted, *kept;       /* of an elementwise operation, else NULL */
    PyObject *ufunc;                           /* the function of NumPy that computes the same; None if there is none */
    int operands, on_numbers, is_closed, is_light, by_reference;
} EagerOp;

/* Return whether operands have one accepted dtype; -1 with an exception. */
static int are_accepted(EagerOp *self, PyObject *const *x)
{
    PyObject *dtype = NULL;
    for (int i = 0; i < self->operands; i++) {
        PyObject *array = AT(x[i], array_offset);
        if (array == NULL || !PyArray_CheckExact(array)) return 0;
        PyObject *own = (PyObject *)PyArray_DESCR((PyArrayObject *)array);
        if (dtype != NULL && own != dtype) return 0;
        dtype = own;
    }
    return PySet_Contains(self->accepted, dtype);
}

typedef enum { OR_CONVERT, OR_NOTHING } Otherwise; /* what happens to a call that is not kept */

/* Return the array that the kernel makes of tensors of one accepted dtype. */
static PyObject *computed_arrays(EagerOp *self, PyObject *const *x)
{
    PyObject *arrays[2];
    int size = self->operands, is_scalar = self->on_numbers;
    for (int i = 0; i < size; i++)
        is_scalar = is_scalar && PyArray_NDIM((PyArrayObject *)AT(x[i], array_offset)) == 0;
    for (int i = 0; i < size; i++) {
        PyArrayObject *array = (PyArrayObject *)AT(x[i], array_offset);
        arrays[i] = is_scalar ? PyArray_ToScalar(PyArray_DATA(array), array) : Py_NewRef(array);
    }
    PyObject *found = NULL;
    if (arrays[0] != NULL && arrays[size - 1] != NULL) found = quietly(self->compute, arrays, size, self->is_closed);
    for (int i = 0; i < size; i++) Py_XDECREF(arrays[i]);
    return as_array(found, Py_None);
}

static PyObject *run_kept(EagerOp *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *recorders,
                          Otherwise otherwise);

/* Return the result for tensors of one accepted dtype; None if they must be checked. A call whose kernel may take long is
   kept, for it may be compiled, unless the loop takes no longer than the memory does. */
static PyObject *computed_elementwise(EagerOp *self, PyObject *const *x, PyObject *recorders)
{
    int size = self->operands, least = self->ufunc == Py_None ? LONG : LARGE;
    int may_be_long = has_bytes(AT(x[0], array_offset), least) || has_bytes(AT(x[size - 1], array_offset), least);
    int is_loop = self->ufunc != Py_None && (self->is_light || !may_be_long);
    PyObject *found = is_loop ? looped(self->ufunc, x, size) : NULL;
    if (found == NULL && !PyErr_Occurred()) {
        if (may_be_long) return run_kept(self, x, size, NULL, recorders, OR_CONVERT);
        found = computed_arrays(self, x);
    }
    PyObject *result = new_tensor(found, found == NULL ? Py_None : same_kind(found, x[0]));
    if (result == NULL && PyErr_ExceptionMatches(refused)) { /* the complete way raises the full message */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (result != NULL && PyList_GET_SIZE(recorders) > 0
        && record_few(recorders, self->op, self->kept, x, size, result) < 0)
        Py_CLEAR(result);
    return result;
}

/* Return the result of an elementwise operation on tensors, variables and a number; None if they must be checked. */
static PyObject *elementwise(EagerOp *self, PyObject *const *given, PyObject *recorders)
{
    PyObject *x[2] = {NULL, NULL}, *result = NULL;
    int size = self->operands, are_set = set_operands(x, given, size, recorders);
    if (are_set > 0) are_set = are_accepted(self, x);
    if (are_set > 0) result = computed_elementwise(self, x, recorders);
    else if (are_set == 0) result = Py_NewRef(Py_None);
    Py_XDECREF(x[0]);
    Py_XDECREF(x[1]);
    return result;
}

/* Operations ----------------------------------------------------------------------------------------------------- */

/* Return the recorders of this thread, as a new reference; NULL if operations take the way in Python. */
static PyObject *eager_recorders(void)
{
    if (PyList_GET_SIZE(busy) == 0) return Py_NewRef(no_recorders); /* no thread builds a graph or records */
    PyObject *observed = PyObject_GetAttr(placement, name_observed), *recorders = NULL;
    if (observed == Py_False) recorders = PyObject_GetAttr(stack, name_recorders);
    if (recorders != NULL && !PyList_CheckExact(recorders)) Py_CLEAR(recorders);
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
        else if (otherwise == OR_CONVERT)
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

/* Eager calls that were accepted before, without Python code around the kernel: an optional extension module.

   op(x, axis=1)   →   key   →   EagerCall   →   arrays   →   kernel   →   tensor
                       no EagerCall: `op._converted`, the complete way in Python
   x + y           →   arrays of one accepted dtype   →   kernel   →   tensor

   eager_calls.py has the same in Python, and op.py and op_families.py the calls. */

#include "native_loops.h"
#include "native_index.h"

#include <time.h>

#define ARRAYS 64       /* arguments of a kernel */
#define LONG (1 << 12)  /* bytes of an array for which kernels in Python may take longer than to find a kept call */
#define MOST_NUMBERS 1024 /* numbers of programs that are cached as tensors */
#define SLOW 2000       /* nanoseconds of a kernel that count */
#define SAMPLED 8       /* one of so many calls on smaller arrays is timed */

enum { ATTRIBUTES, COMPUTE, DTYPES, IS_CLOSED, IS_PLAIN, KINDS, OP, POSITIONS, RETURNS_MANY, TAIL, TEMPLATE, SLOTS };
static const char *const slot_names[SLOTS] = {
    "attributes", "compute", "dtypes", "is_closed", "is_plain", "kinds", "op", "positions", "returns_many", "tail",
    "template",
};

/* Set by `register`. */
static PyObject *Assigned, *EagerCall, *EagerProgram, *silence, *begin, *end, *refused, *busy, *stack, *placement, *numbers, *operand;
static Py_ssize_t slots[SLOTS];
static PyObject *no_recorders; /* an empty list */
static PyObject *name_failed, *name_results, *name_recorders, *name_observed, *name_compute, *name_fields, *name_slow, *name_variable;

enum { CONSTANTS, RESULT, STEPS, PROGRAM_SLOTS };
static const char *const program_names[PROGRAM_SLOTS] = {"constants", "result", "steps"};
static Py_ssize_t program_slots[PROGRAM_SLOTS];

#define SLOT(call, number) AT(call, slots[number])

/* Kernels -------------------------------------------------------------------------------------------------------- */

/* Return `np.asarray(found, dtype)`; the reference to `found` is consumed. */
static PyObject *as_array(PyObject *found, PyObject *dtype)
{
    if (found == NULL || PyArray_CheckExact(found)) return found;
    PyArray_Descr *descr = PyArray_DescrCheck(dtype) ? (PyArray_Descr *)Py_NewRef(dtype) : NULL;
    PyObject *array = PyArray_FromAny(found, descr, 0, 0, NPY_ARRAY_ENSUREARRAY | NPY_ARRAY_FORCECAST, NULL);
    Py_DECREF(found);
    return array;
}

/* Return the result of a kernel without NumPy's warnings. One that calls no function of the program runs in a context
   that has nothing but this setting, which is quicker than to set and reset it. */
static PyObject *quietly(PyObject *compute, PyObject *const *arguments, Py_ssize_t count, int is_closed)
{
    PyObject *kind, *error, *trace, *before = NULL;
    int enters = is_closed && !is_entered && silent != Py_None;
    if (enters ? PyContext_Enter(silent) < 0 : (before = PyObject_CallOneArg(begin, silence)) == NULL) return NULL;
    is_entered |= enters;
    Py_INCREF(compute);
    PyObject *found = PyObject_Vectorcall(compute, arguments, count, NULL);
    Py_DECREF(compute);
    PyErr_Fetch(&kind, &error, &trace);
    if (enters) is_entered = 0;
    int failed = enters ? PyContext_Exit(silent) : 0;
    PyObject *ended = enters ? NULL : PyObject_CallOneArg(end, before);
    if (failed < 0 || (!enters && ended == NULL)) Py_CLEAR(found);
    Py_XDECREF(before);
    Py_XDECREF(ended);
    if (kind != NULL) PyErr_Restore(kind, error, trace);
    return found;
}

static PyObject *list_of(PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) PyList_SET_ITEM(list, i, Py_NewRef(arrays[i]));
    return list;
}

/* Let `call.failed` raise what the exception of a kernel becomes. */
static void explain(PyObject *call, PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *kind, *error, *trace, *list = NULL, *ignored = NULL;
    PyErr_Fetch(&kind, &error, &trace);
    PyErr_NormalizeException(&kind, &error, &trace);
    if (trace != NULL) PyException_SetTraceback(error, trace);
    list = list_of(arrays, count);
    if (list != NULL) ignored = PyObject_CallMethodObjArgs(call, name_failed, error, list, NULL);
    Py_XDECREF(ignored);
    Py_XDECREF(list);
    Py_XDECREF(kind);
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

static int has_bytes(PyObject *x, npy_intp least)
{
    return x != NULL && PyArray_CheckExact(x) && PyArray_NBYTES((PyArrayObject *)x) >= least;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Return the number of calls for which the time of this one counts; 0 if it is not timed. */
static int weight_of(PyObject *const *arrays, Py_ssize_t count)
{
    static uint32_t state = 1; /* of random numbers: programs call their operations in turn */
    for (Py_ssize_t i = 0; i < count; i++)
        if (has_bytes(arrays[i], LARGE)) return 1;
    state = state * 1664525 + 1013904223;
    return state < UINT32_MAX / SAMPLED ? SAMPLED : 0;
}

/* Let `call.slow` count the time of a kernel; -1 with an exception. */
static int count_time(PyObject *call, int64_t taken, int weight, PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *list = taken < SLOW ? NULL : list_of(arrays, count), *nothing = NULL;
    PyObject *seconds = list == NULL ? NULL : PyFloat_FromDouble(taken * weight * 1e-9);
    if (seconds != NULL) nothing = PyObject_CallMethodObjArgs(call, name_slow, seconds, list, NULL);
    Py_XDECREF(list);
    Py_XDECREF(seconds);
    Py_XDECREF(nothing);
    return taken >= SLOW && nothing == NULL ? -1 : 0;
}

/* Calls ---------------------------------------------------------------------------------------------------------- */

/* Return the inputs: the template, with the tensors at the positions where that has none. */
static PyObject *inputs_of(PyObject *call, PyObject *tensors)
{
    PyObject *positions = SLOT(call, POSITIONS), *template = SLOT(call, TEMPLATE);
    if (positions == Py_None) return Py_NewRef(tensors);
    PyObject *inputs = PyList_GetSlice(template, 0, PyList_GET_SIZE(template));
    for (Py_ssize_t i = 0; inputs != NULL && i < PyList_GET_SIZE(positions); i++) {
        Py_ssize_t at = PyLong_AsSsize_t(PyList_GET_ITEM(positions, i));
        if (i >= PyList_GET_SIZE(tensors) || PyList_SetItem(inputs, at, Py_NewRef(PyList_GET_ITEM(tensors, i))) < 0)
            Py_CLEAR(inputs);
    }
    return inputs;
}

/* Return the result of the kernel of a call: an array, or a tuple of them. */
static PyObject *computed(PyObject *call, PyObject *inputs)
{
    PyObject *arrays[ARRAYS], *tail = SLOT(call, TAIL);
    Py_ssize_t count = PyList_GET_SIZE(inputs), size = count + PyTuple_GET_SIZE(tail), i = 0;
    if (size > ARRAYS) return PyErr_Format(PyExc_SystemError, "a kernel with %zd arguments", size);
    for (; i < count; i++) {
        PyObject *x = PyList_GET_ITEM(inputs, i), *array = NULL;
        if (Py_IS_TYPE(x, Tensor)) array = AT(x, array_offset);
        else if (IS_A(x, TensorArray)) array = AT(x, array_slots[ELEMENTS]);
        arrays[i] = Py_NewRef(array == NULL ? x : array); /* a variable by reference */
    }
    for (; i < size; i++) arrays[i] = Py_NewRef(PyTuple_GET_ITEM(tail, i - count));
    int is_closed = SLOT(call, IS_CLOSED) == Py_True, weight = is_closed ? weight_of(arrays, count) : 0;
    int64_t start = weight ? now() : 0;
    PyObject *found = quietly(SLOT(call, COMPUTE), arrays, size, is_closed);
    if (found == NULL) explain(call, arrays, count);
    else if (weight && count_time(call, now() - start, weight, arrays, count) < 0) Py_CLEAR(found);
    for (i = 0; i < size; i++) Py_DECREF(arrays[i]);
    return found;
}

/* Return what a kernel returned as one tensor, or as a list of tensors; the reference to `found` is consumed. */
static PyObject *plain_results(PyObject *call, PyObject *found)
{
    PyObject *kinds = SLOT(call, KINDS), *dtypes = SLOT(call, DTYPES);
    if (SLOT(call, RETURNS_MANY) != Py_True)
        return new_tensor(as_array(found, PyList_GET_ITEM(dtypes, 0)), PyList_GET_ITEM(kinds, 0));
    PyObject *items = PySequence_Fast(found, "results");
    Py_ssize_t count = items == NULL ? 0 : PySequence_Fast_GET_SIZE(items);
    PyObject *results = items == NULL ? NULL : PyList_New(count);
    if (results != NULL && count != PyList_GET_SIZE(kinds)) {
        PyErr_Format(PyExc_SystemError, "a kernel returned %zd results", count);
        Py_CLEAR(results);
    }
    for (Py_ssize_t i = 0; results != NULL && i < count; i++) {
        PyObject *array = as_array(Py_NewRef(PySequence_Fast_GET_ITEM(items, i)), PyList_GET_ITEM(dtypes, i));
        PyObject *tensor = new_tensor(array, PyList_GET_ITEM(kinds, i));
        if (tensor != NULL) PyList_SET_ITEM(results, i, tensor);
        else Py_CLEAR(results);
    }
    Py_DECREF(found);
    Py_XDECREF(items);
    return results;
}

static PyObject *run(PyObject *call, PyObject *tensors, PyObject *recorders)
{
    PyObject *result = NULL, *outputs = NULL, *inputs = inputs_of(call, tensors);
    PyObject *found = inputs == NULL ? NULL : computed(call, inputs);
    if (found != NULL && SLOT(call, IS_PLAIN) == Py_True) result = plain_results(call, found);
    else if (found != NULL) {
        result = PyObject_CallMethodOneArg(call, name_results, found);
        Py_DECREF(found);
    }
    if (result != NULL && PyList_GET_SIZE(recorders) > 0) {
        outputs = PyList_CheckExact(result) ? PyList_GetSlice(result, 0, PyList_GET_SIZE(result)) : PyList_New(1);
        if (outputs != NULL && !PyList_CheckExact(result)) PyList_SET_ITEM(outputs, 0, Py_NewRef(result));
        if (outputs == NULL || record(recorders, SLOT(call, OP), inputs, SLOT(call, ATTRIBUTES), outputs) < 0)
            Py_CLEAR(result);
    }
    Py_XDECREF(outputs);
    Py_XDECREF(inputs);
    return result;
}

static int is_runnable(PyObject *call)
{
    if (!IS_A(call, EagerCall)) return 0;
    for (int i = 0; i < SLOTS; i++)
        if (SLOT(call, i) == NULL) return 0;
    PyObject *kinds = SLOT(call, KINDS), *dtypes = SLOT(call, DTYPES);
    return PyTuple_CheckExact(SLOT(call, TAIL)) && PyList_CheckExact(SLOT(call, TEMPLATE))
        && PyList_CheckExact(kinds) && PyList_CheckExact(dtypes) && PyList_GET_SIZE(kinds) == PyList_GET_SIZE(dtypes)
        && (PyList_GET_SIZE(kinds) > 0 || SLOT(call, RETURNS_MANY) == Py_True)
        && (SLOT(call, POSITIONS) == Py_None || PyList_CheckExact(SLOT(call, POSITIONS)))
        && PyList_GET_SIZE(SLOT(call, TEMPLATE)) + PyTuple_GET_SIZE(SLOT(call, TAIL)) <= ARRAYS;
}

/* Append what a step of a program, a call and the positions of its inputs, returns to the values; -1 with an exception. */
static int run_step(PyObject *step, PyObject *values, PyObject *recorders)
{
    PyObject *call, *positions, *found = NULL, *inputs;
    if (!PyArg_ParseTuple(step, "OO!", &call, &PyTuple_Type, &positions)) return -1;
    Py_ssize_t count = 0, size = PyTuple_GET_SIZE(positions);
    if ((inputs = PyList_New(size)) == NULL) return -1;
    for (; count < size; count++) {
        PyObject *x = PyList_GetItem(values, PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, count)));
        if (x == NULL) break;
        PyList_SET_ITEM(inputs, count, Py_NewRef(x));
    }
    if (count == size) {
        if (is_runnable(call)) found = run(call, inputs, recorders);
        else if (IS_A(call, EagerCall)) found = PyObject_CallMethod(call, "run", "OO", inputs, recorders);
        else found = PyObject_Vectorcall(call, ((PyListObject *)inputs)->ob_item, size, NULL);
    }
    int failed = found == NULL ? -1 : 0;
    if (found != NULL && !PyList_CheckExact(found)) failed = PyList_Append(values, found);
    else if (found != NULL) failed = PyList_SetSlice(values, PyList_GET_SIZE(values), PyList_GET_SIZE(values), found);
    Py_XDECREF(found);
    Py_DECREF(inputs);
    return failed;
}

/* Return the result of `EagerProgram.run`. */
static PyObject *run_program(PyObject *program, PyObject *tensors, PyObject *recorders)
{
    PyObject *constants = AT(program, program_slots[CONSTANTS]), *steps = AT(program, program_slots[STEPS]);
    PyObject *at = AT(program, program_slots[RESULT]), *values, *result = NULL;
    Py_ssize_t count = PyList_GET_SIZE(tensors), size;
    if (constants == NULL || at == NULL || steps == NULL || !PyTuple_CheckExact(constants) || !PyTuple_CheckExact(steps))
        return PyErr_Format(PyExc_SystemError, "no program: %R", program);
    if ((values = PyList_GetSlice(tensors, 0, count)) == NULL) return NULL;
    size = count + PyTuple_GET_SIZE(constants);
    int failed = PyList_SetSlice(values, count, count, constants);
    for (Py_ssize_t i = 0; failed == 0 && i < PyTuple_GET_SIZE(steps); i++)
        failed = run_step(PyTuple_GET_ITEM(steps, i), values, recorders);
    Py_ssize_t position = PyLong_AsSsize_t(at);
    if (failed == 0) result = Py_XNewRef(PyList_GetItem(values, position));
    if (result != NULL && position >= count && position < size && Py_IS_TYPE(result, Tensor))
        Py_SETREF(result, new_tensor(PyArray_NewCopy((PyArrayObject *)AT(result, array_offset), NPY_KEEPORDER), Py_None));
    Py_DECREF(values);
    return result;
}

/* Return the call that is kept for a key, as a borrowed reference; NULL if there is none. The key may get longer. */
static PyObject *kept_call(PyObject *calls, PyObject **parts, PyObject *tensors)
{
    PyObject *call = PyDict_GetItemWithError(calls, *parts);
    if (call == NULL || !PyTuple_Check(call)) return call;
    PyObject *longer = with_elements(*parts, call, tensors);
    if (longer == NULL) return NULL;
    Py_SETREF(*parts, longer);
    return PyDict_GetItemWithError(calls, longer);
}

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
    if ((is_float && !is_zero) || PyLong_CheckExact(value)) {
        int type = ((PyArray_Descr *)dtype)->type_num, is_whole = type == NPY_INT || type == NPY_LONG;
        PyObject *key = PyTuple_Pack(3, dtype, Py_TYPE(value), value);
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

/* Return the callable in the slot `__call__` of an operation. */
static PyObject *caller(PyObject *module, PyObject *op)
{
    EagerOp *made = (EagerOp *)EagerOpType.tp_alloc(&EagerOpType, 0);
    if (made == NULL) return NULL;
    made->vectorcall = call_op;
    made->op = Py_NewRef(op);
    return (PyObject *)made;
}

/* Operators ------------------------------------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *method, *ops; /* the method in Python, and a tuple of the callables of elementwise operations */
    PyObject *ufunc;        /* of an assignment: what it does with the value and its operand; else NULL */
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

/* Return `tensor[key]` as a view; or as the kept call of the operation does, for tapes; or as the method does. */
static PyObject *call_getitem(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Operator *self = (Operator *)object;
    int is_eager = names == NULL && PyVectorcall_NARGS(flags) == 2 && Py_IS_TYPE(args[0], Tensor);
    PyObject *recorders = is_eager ? eager_recorders() : NULL, *result = NULL;
    PyObject *index = recorders == NULL ? NULL : plain_index(args[1]);
    if (index != NULL && PyList_GET_SIZE(recorders) == 0) result = indexed(args[0], index);
    else if (index != NULL) result = indexed_on_tapes(args[0], index, recorders);
    if (index != NULL && result == NULL && !PyErr_Occurred() && PyList_GET_SIZE(recorders) > 0) {
        EagerOp *op = (EagerOp *)PyTuple_GET_ITEM(self->ops, 0);
        PyObject *given[] = {args[0], index};
        if (is_prepared(op) == 0) result = run_kept(op, given, 2, NULL, recorders, OR_CONVERT);
    }
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

/* Return a handle to a variable after the kept call of an assignment; or the result of the method. */
static PyObject *call_assignment(PyObject *object, PyObject *const *args, size_t flags, PyObject *names)
{
    Operator *self = (Operator *)object;
    EagerOp *op = (EagerOp *)PyTuple_GET_ITEM(self->ops, 0);
    int is_eager = names == NULL && PyVectorcall_NARGS(flags) == 2 && IS_A(args[0], Variable);
    PyObject *recorders = is_eager ? eager_recorders() : NULL, *result = NULL;
    PyObject *operand = recorders == NULL ? NULL : operand_for(args[0], args[1]);
    int is_done = operand == NULL || PyList_GET_SIZE(recorders) > 0 ? 0 : is_updated(args[0], self->ufunc, operand);
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

static PyObject *make_method(vectorcallfunc vectorcall, PyObject *args)
{
    PyObject *method, *op, *ufunc = NULL;
    if (!PyArg_ParseTuple(args, "OO|O!", &method, &op, &PyUFunc_Type, &ufunc)) return NULL;
    PyObject *ops = PyTuple_Pack(1, op), *made = ops == NULL ? NULL : operator_of(vectorcall, 1, method, ops, 0);
    if (made != NULL) ((Operator *)made)->ufunc = Py_XNewRef(ufunc);
    Py_XDECREF(ops);
    return made;
}

static PyObject *make_getitem(PyObject *module, PyObject *args) { return make_method(call_getitem, args); }

static PyObject *make_assignment(PyObject *module, PyObject *args) { return make_method(call_assignment, args); }

/* Module --------------------------------------------------------------------------------------------------------- */

typedef struct { const char *name; PyObject **at; } Entry;

static const Entry registered[] = {
    {"variable", &Variable}, {"array", &TensorArray}, {"array_element", &TensorType}, {"shape", &TensorShape},
    {"atoms", &atoms}, {"kinds", &kinds}, {"kind_of", &kind_of}, {"call", &EagerCall}, {"program", &EagerProgram}, {"silence", &silence},
    {"silent", &silent}, {"pool", &pool}, {"begin", &begin}, {"end", &end}, {"refused", &refused}, {"busy", &busy}, {"stack", &stack},
    {"placement", &placement}, {"numbers", &numbers}, {"operand", &operand}, {"tape", &Tape}, {"record", &Record},
    {"kept_attributes", &KeptAttributes}, {"assigned", &Assigned}, {"own_files", &own_files}, {"carries_gradient", &carries}, {"read_variable", &read_variable},
    {"gradient_plan", &GradientPlan}, {"add", &add}, {"total", &total}, {"dense", &dense}, {"pulled", &pulled},
    {"handing_on", &handing_on}, {"item_op", &item_op}, {"item_attributes", &item_attributes}, {"patterns", &patterns},
};

static const Entry names[] = {
    {"_owner", &name_owner}, {"_array", &name_array}, {"sizes", &name_sizes}, {"content_spec", &name_spec},
    {"element", &name_element}, {"dtype", &name_dtype}, {"shape", &name_shape}, {"computed", &name_computed},
    {"_accessed", &name_accessed}, {"carries_gradient", &name_carries}, {"failed", &name_failed},
    {"results", &name_results}, {"value", &name_value}, {"eager_recorders", &name_recorders},
    {"observed", &name_observed}, {"compute", &name_compute}, {"_fields", &name_fields}, {"slow", &name_slow},
    {"_variable", &name_variable},
};

/* Return -1 with an exception if a class has other slots than the code for it. */
static int set_slots(PyObject *given)
{
    PyObject *tensor = PyDict_GetItemString(given, "tensor"), *call = PyDict_GetItemString(given, "call");
    PyObject *array = PyDict_GetItemString(given, "array"), *record = PyDict_GetItemString(given, "record");
    PyObject *tape = PyDict_GetItemString(given, "tape");
    if (tensor != NULL && set_tensor_class(tensor) < 0) return -1;
    if (call != NULL && slot_offsets(call, slot_names, SLOTS, slots) < 0) return -1;
    PyObject *program = PyDict_GetItemString(given, "program");
    if (program != NULL && slot_offsets(program, program_names, PROGRAM_SLOTS, program_slots) < 0) return -1;
    if (array != NULL && slot_offsets(array, array_names, ARRAY_SLOTS, array_slots) < 0) return -1;
    if (tape != NULL && slot_offsets(tape, tape_names, TAPE_SLOTS, tape_slots) < 0) return -1;
    PyObject *plan = PyDict_GetItemString(given, "gradient_plan"), *kept = PyDict_GetItemString(given, "kept_attributes");
    static const char *const plans[] = {"plans"};
    if (plan != NULL && slot_offsets(plan, plan_names, PLAN_SLOTS, plan_slots) < 0) return -1;
    if (kept != NULL && slot_offsets(kept, plans, 1, &plans_offset) < 0) return -1;
    return record == NULL ? 0 : slot_offsets(record, record_names, RECORD_SLOTS, record_slots);
}

static PyObject *register_things(PyObject *module, PyObject *args, PyObject *given)
{
    if (PyTuple_GET_SIZE(args) || given == NULL || set_slots(given) < 0)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "register(**classes_and_functions)");
    for (size_t i = 0; i < sizeof registered / sizeof *registered; i++) {
        PyObject *thing = PyDict_GetItemString(given, registered[i].name);
        if (thing != NULL) Py_XSETREF(*registered[i].at, Py_NewRef(thing));
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register", (PyCFunction)(void (*)(void))register_things, METH_VARARGS | METH_KEYWORDS,
     "register(**classes_and_functions)\n--\n\nSet the classes and functions that calls and tapes use."},
    {"caller", caller, METH_O, "caller(op)\n--\n\nReturn the callable in the slot `__call__` of an operation."},
    {"operator", make_operator, METH_VARARGS,
     "operator(method, ops, is_reflected)\n--\n\nReturn a method that tries elementwise operations, and then `method`."},
    {"getitem", make_getitem, METH_VARARGS,
     "getitem(method, op)\n--\n\nReturn a method that tries basic indexing, which `op` records on tapes, and then `method`."},
    {"assignment", make_assignment, METH_VARARGS,
     "assignment(method, op, ufunc=None)\n--\n\nReturn a method of variables that tries `ufunc` in place, a kept call of "
     "`op`, and then `method`."},
    {"read", (PyCFunction)(void (*)(void))read_recorded, METH_FASTCALL,
     "read(variable, recorders)\n--\n\nReturn the present value of a variable, and record the read."},
    {"tape_computed", (PyCFunction)(void (*)(void))computed_on_tape, METH_FASTCALL,
     "tape_computed(tape, op, inputs, attrs, outputs)\n--\n\nRecord an operation if the tape tracks an input."},
    {"flow_parts", (PyCFunction)(void (*)(void))flow_parts, METH_FASTCALL,
     "flow_parts(numbers, tensors, parts, records, handing_on, values)\n--\n\nAppend the parts of a flow's key for "
     "records and some tensors; return whether all have parts."},
    {"sweep", (PyCFunction)(void (*)(void))sweep_back, METH_FASTCALL,
     "sweep(records, targets, sources, since)\n--\n\nReturn the cotangents of sources; None if not all tensors are eager."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_eager", "Eager calls without Python code around the kernel.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_eager(void)
{
    import_array();
    import_umath();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].name)) == NULL) return NULL;
    if ((no_attributes = PyDict_New()) == NULL || (no_recorders = PyList_New(0)) == NULL) return NULL;
    if (PyType_Ready(&EagerOpType) < 0 || PyType_Ready(&OperatorType) < 0) return NULL;
    return PyModule_Create(&definition);
}

/* Calls of kernels that were accepted before: what `EagerCall` describes.

   inputs: the template, with the tensors of the call   →   arrays   →   kernel   →   tensors

   eager_calls.py has the same in Python. */

#include "native_loops.h"

#include <time.h>

#define ARRAYS 320      /* arguments of a kernel */
#define LONG (1 << 12)  /* bytes of an array for which kernels in Python may take longer than to make a kept call */
#define SHORT (1 << 8)  /* bytes of an array for which they may take longer than to find a kept call */
#define MOST_KEPT 256   /* calls that an operation keeps, as MOST of eager_calls.py */
#define MOST_NUMBERS 1024 /* numbers of programs that are cached as tensors */
#define SLOW 700        /* nanoseconds of a kernel that count: native code with its call takes about as long */
#define SAMPLED 16      /* one of so many calls on smaller arrays is timed */

enum { ATTRIBUTES, COMPUTE, DTYPES, IS_CLOSED, KINDS, OP, POSITIONS, RETURNS_MANY, TAIL, TEMPLATE, SLOTS };
static const char *const slot_names[SLOTS] = {
    "attributes", "compute", "dtypes", "is_closed", "kinds", "op", "positions", "returns_many", "tail",
    "template",
};

/* Set by `register`. */
static PyObject *Assigned, *EagerCall, *EagerProgram, *silence, *begin, *end, *refused, *busy, *stack, *placement, *numbers, *operand, *found_recorders;
static Py_ssize_t slots[SLOTS];
static PyObject *no_recorders; /* an empty list */
static PyObject *name_failed, *name_recorders, *name_observed, *name_compute, *name_fields, *name_slow, *name_variable;

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

/* Return one result of a kernel as a tensor or a TensorArray; the reference to `found` is consumed. */
static PyObject *new_result(PyObject *found, PyObject *dtype, PyObject *kind)
{
    if (!IS_A(kind, ListType)) return new_tensor(as_array(found, dtype), kind);
    PyObject *made = found == NULL ? NULL : ((PyTypeObject *)TensorArray)->tp_alloc((PyTypeObject *)TensorArray, 0);
    if (made == NULL) {
        Py_XDECREF(found);
        return NULL;
    }
    AT(made, array_slots[ELEMENTS]) = found;
    AT(made, array_slots[TYPE]) = Py_NewRef(kind);
    return made;
}

/* Return what a kernel returned as one result, or as a list of them; the reference to `found` is consumed. */
static PyObject *results_of(PyObject *call, PyObject *found)
{
    PyObject *kinds = SLOT(call, KINDS), *dtypes = SLOT(call, DTYPES);
    if (SLOT(call, RETURNS_MANY) != Py_True)
        return new_result(found, PyList_GET_ITEM(dtypes, 0), PyList_GET_ITEM(kinds, 0));
    PyObject *items = PySequence_Fast(found, "results");
    Py_ssize_t count = items == NULL ? 0 : PySequence_Fast_GET_SIZE(items);
    PyObject *results = items == NULL ? NULL : PyList_New(count);
    if (results != NULL && count != PyList_GET_SIZE(kinds)) {
        PyErr_Format(PyExc_SystemError, "a kernel returned %zd results", count);
        Py_CLEAR(results);
    }
    for (Py_ssize_t i = 0; results != NULL && i < count; i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(items, i));
        PyObject *result = new_result(item, PyList_GET_ITEM(dtypes, i), PyList_GET_ITEM(kinds, i));
        if (result != NULL) PyList_SET_ITEM(results, i, result);
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
    if (found != NULL) result = results_of(call, found);
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

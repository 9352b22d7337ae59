/* Eager calls that were accepted before, without Python code around the kernel: an optional extension module.

   op(x, axis=1)   →   key   →   EagerCall   →   arrays   →   kernel   →   tensor
                       no EagerCall: (key, number of tensors), for the complete way in Python

   eager_calls.py has the same in Python. */

#include "native_tape.h"

#define ARRAYS 64 /* arguments of a kernel */

enum { ATTRIBUTES, COMPUTE, DTYPE, IS_PLAIN, KIND, OP, POSITIONS, TAIL, TEMPLATE, SLOTS };
static const char *const slot_names[SLOTS] = {
    "attributes", "compute", "dtype", "is_plain", "kind", "op", "positions", "tail", "template",
};

static PyObject *EagerCall, *silence, *begin, *end, *refused; /* set by `register` */
static Py_ssize_t slots[SLOTS];
static PyObject *name_failed, *name_results;

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

/* Return the result of a kernel without NumPy's warnings. */
static PyObject *quietly(PyObject *compute, PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *kind, *error, *trace, *before = PyObject_CallOneArg(begin, silence);
    if (before == NULL) return NULL;
    PyObject *found = PyObject_Vectorcall(compute, arguments, count, NULL);
    PyErr_Fetch(&kind, &error, &trace);
    PyObject *ended = PyObject_CallOneArg(end, before);
    Py_DECREF(before);
    if (ended == NULL) Py_CLEAR(found);
    Py_XDECREF(ended);
    if (kind != NULL) PyErr_Restore(kind, error, trace);
    return found;
}

/* Let `call.failed` raise what the exception of a kernel becomes. */
static void explain(PyObject *call, PyObject *const *arrays, Py_ssize_t count)
{
    PyObject *kind, *error, *trace, *list = NULL, *ignored = NULL;
    PyErr_Fetch(&kind, &error, &trace);
    PyErr_NormalizeException(&kind, &error, &trace);
    if (trace != NULL) PyException_SetTraceback(error, trace);
    list = PyList_New(count);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) PyList_SET_ITEM(list, i, Py_NewRef(arrays[i]));
    if (list != NULL) ignored = PyObject_CallMethodObjArgs(call, name_failed, error, list, NULL);
    Py_XDECREF(ignored);
    Py_XDECREF(list);
    Py_XDECREF(kind);
    Py_XDECREF(error);
    Py_XDECREF(trace);
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
    PyObject *found = quietly(SLOT(call, COMPUTE), arrays, size);
    if (found == NULL) explain(call, arrays, count);
    for (i = 0; i < size; i++) Py_DECREF(arrays[i]);
    return found;
}

static PyObject *run(PyObject *call, PyObject *tensors, PyObject *recorders)
{
    PyObject *result = NULL, *outputs = NULL, *inputs = inputs_of(call, tensors);
    PyObject *found = inputs == NULL ? NULL : computed(call, inputs);
    if (found != NULL && SLOT(call, IS_PLAIN) == Py_True)
        result = new_tensor(as_array(found, SLOT(call, DTYPE)), SLOT(call, KIND));
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
    for (int i = 0; i < SLOTS; i++)
        if (!IS_A(call, EagerCall) || SLOT(call, i) == NULL) return 0;
    return PyTuple_CheckExact(SLOT(call, TAIL)) && PyList_CheckExact(SLOT(call, TEMPLATE))
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

static PyObject *run_kept(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyDict_CheckExact(args[0]) || !PyTuple_CheckExact(args[1]) || !PyDict_CheckExact(args[2])
        || !PyList_CheckExact(args[4]))
        return PyErr_Format(PyExc_TypeError, "run_kept(calls, args, kwargs, takes_variables, recorders)");
    Key key = {.count = 0, .tensors = PyList_New(0), .recorders = args[3] == Py_True ? NULL : args[4]};
    if (key.tensors == NULL) return NULL;
    PyObject *result = NULL, *parts = NULL, *call = NULL;
    int has_key = put_arguments(&key, args[1], args[2]);
    if (has_key) parts = taken(&key);
    if (parts != NULL) call = Py_XNewRef(kept_call(args[0], &parts, key.tensors));
    if (!PyErr_Occurred()) {
        if (call != NULL && is_runnable(call))
            result = run(call, key.tensors, args[4]);
        else
            result = Py_BuildValue("(On)", has_key && call != Py_False ? parts : Py_None, PyList_GET_SIZE(key.tensors));
    }
    for (Py_ssize_t i = 0; i < key.count; i++) Py_DECREF(key.parts[i]);
    Py_XDECREF(call);
    Py_XDECREF(parts);
    Py_DECREF(key.tensors);
    return result;
}

/* Return the result of an elementwise operation on tensors of one accepted dtype; None if it must be checked. */
static PyObject *elementwise(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count < 7 || count > 8 || !PyAnySet_Check(args[1]) || !PyList_CheckExact(args[3]))
        return PyErr_Format(PyExc_TypeError, "elementwise(compute, accepted, on_numbers, recorders, op, kept, x, y)");
    PyObject *arrays[2], *dtype = NULL;
    int size = (int)count - 6, is_scalar = args[2] == Py_True;
    for (int i = 0; i < size; i++) {
        PyObject *array = Py_IS_TYPE(args[6 + i], Tensor) ? AT(args[6 + i], array_offset) : NULL;
        if (array == NULL || !PyArray_CheckExact(array)) Py_RETURN_NONE;
        PyObject *own = (PyObject *)PyArray_DESCR((PyArrayObject *)array);
        if (dtype != NULL && own != dtype) Py_RETURN_NONE;
        dtype = own;
        arrays[i] = array;
        is_scalar = is_scalar && PyArray_NDIM((PyArrayObject *)array) == 0;
    }
    int is_accepted = PySet_Contains(args[1], dtype);
    if (is_accepted < 0) return NULL;
    if (!is_accepted) Py_RETURN_NONE;
    for (int i = 0; i < size; i++) {
        PyArrayObject *array = (PyArrayObject *)arrays[i];
        arrays[i] = is_scalar ? PyArray_ToScalar(PyArray_DATA(array), array) : Py_NewRef(arrays[i]);
    }
    PyObject *found = arrays[0] == NULL || arrays[size - 1] == NULL ? NULL : quietly(args[0], arrays, size);
    for (int i = 0; i < size; i++) Py_XDECREF(arrays[i]);
    PyObject *result = new_tensor(as_array(found, Py_None), Py_None);
    if (result == NULL && PyErr_ExceptionMatches(refused)) { /* the complete way raises the full message */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (result != NULL && PyList_GET_SIZE(args[3]) > 0
        && record_few(args[3], args[4], args[5], args + 6, size, result) < 0)
        Py_CLEAR(result);
    return result;
}

/* Module --------------------------------------------------------------------------------------------------------- */

typedef struct { const char *name; PyObject **at; } Entry;

static const Entry registered[] = {
    {"variable", &Variable}, {"array", &TensorArray}, {"array_element", &TensorType}, {"shape", &TensorShape},
    {"atoms", &atoms}, {"kind_of", &kind_of}, {"call", &EagerCall}, {"silence", &silence}, {"begin", &begin},
    {"end", &end}, {"refused", &refused}, {"tape", &Tape}, {"record", &Record}, {"site", &site_of},
    {"carries_gradient", &carries}, {"read_variable", &read_variable},
};

static const Entry names[] = {
    {"_owner", &name_owner}, {"_array", &name_array}, {"dims", &name_dims}, {"content_spec", &name_spec},
    {"element", &name_element}, {"dtype", &name_dtype}, {"shape", &name_shape}, {"computed", &name_computed},
    {"_builder", &name_builder}, {"_tracked", &name_tracked}, {"_records", &name_records},
    {"_accessed", &name_accessed}, {"carries_gradient", &name_carries}, {"failed", &name_failed},
    {"results", &name_results}, {"value", &name_value},
};

/* Return -1 with an exception if a class has other slots than the code for it. */
static int set_slots(PyObject *given)
{
    PyObject *tensor = PyDict_GetItemString(given, "tensor"), *call = PyDict_GetItemString(given, "call");
    PyObject *array = PyDict_GetItemString(given, "array"), *record = PyDict_GetItemString(given, "record");
    if (tensor != NULL && set_tensor_class(tensor) < 0) return -1;
    if (call != NULL && slot_offsets(call, slot_names, SLOTS, slots) < 0) return -1;
    if (array != NULL && slot_offsets(array, array_names, ARRAY_SLOTS, array_slots) < 0) return -1;
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
    {"run_kept", (PyCFunction)(void (*)(void))run_kept, METH_FASTCALL,
     "run_kept(calls, args, kwargs, takes_variables, recorders)\n--\n\nReturn the result of the call that is kept for "
     "these arguments; else the key (None if there is none) and the number of tensors."},
    {"elementwise", (PyCFunction)(void (*)(void))elementwise, METH_FASTCALL,
     "elementwise(compute, accepted, on_numbers, recorders, op, kept, x, y)\n--\n\nReturn the result of an elementwise "
     "operation on tensors of one accepted dtype, or None."},
    {"read", (PyCFunction)(void (*)(void))read_recorded, METH_FASTCALL,
     "read(variable, recorders)\n--\n\nReturn the present value of a variable, and record the read."},
    {"tape_computed", (PyCFunction)(void (*)(void))computed_on_tape, METH_FASTCALL,
     "tape_computed(tape, op, inputs, attrs, outputs)\n--\n\nRecord an operation if the tape tracks an input."},
    {"flow_types", (PyCFunction)(void (*)(void))flow_types, METH_FASTCALL,
     "flow_types(numbers, tensors, parts, values)\n--\n\nAppend the parts of a flow's key for some tensors; return "
     "whether they have a key."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_eager", "Eager calls without Python code around the kernel.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_eager(void)
{
    import_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].name)) == NULL) return NULL;
    if ((no_attributes = PyDict_New()) == NULL) return NULL;
    return PyModule_Create(&definition);
}

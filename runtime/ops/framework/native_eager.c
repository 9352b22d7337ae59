/* Eager calls that were accepted before, without Python code around the kernel: an optional extension module.

   op(x, axis=1)   →   key   →   EagerCall   →   arrays   →   kernel   →   tensor
                       no EagerCall: (key, number of tensors), for the complete way in Python

   eager_calls.py and autodiff/tape_records.py have the same in Python. The offsets of slots come from the member
   descriptors of their classes. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

#define LONGEST 32     /* items of a list in a key */
#define MOST_PARTS 256 /* parts of a key after which no list begins */
#define PARTS 512      /* parts of a key */
#define ARRAYS 64      /* arguments of a kernel */

enum { ATTRIBUTES, COMPUTE, DTYPE, KIND, OP, POSITIONS, RETURNS_MANY, TAIL, TEMPLATE, SLOTS };
static const char *const slot_names[SLOTS] = {
    "attributes", "compute", "dtype", "kind", "op", "positions", "returns_many", "tail", "template",
};
enum { RECORD_OP, RECORD_INPUTS, RECORD_ATTRS, RECORD_OUTPUTS, RECORD_SITE, RECORD_SLOTS };
static const char *const record_names[RECORD_SLOTS] = {"op", "inputs", "attrs", "outputs", "site"};

static PyTypeObject *Tensor, *Variable, *EagerCall, *TensorShape; /* set by `register` */
static PyObject *atoms, *kind_of, *silence, *begin, *end, *refused;
static Py_ssize_t array_offset, kind_offset, slots[SLOTS];
static PyTypeObject *Tape, *Record; /* set by `register_tape` */
static PyObject *site_of, *carries;
static Py_ssize_t record_slots[RECORD_SLOTS];
static PyObject *name_computed, *name_failed, *name_several, *name_owner, *name_value, *name_dims, *name_spec,
    *name_dtype, *name_shape, *name_builder, *name_tracked, *name_records, *name_accessed, *name_carries;

#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))
#define SLOT(call, number) AT(call, slots[number])

/* Keys ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    Py_ssize_t count;
    PyObject *parts[PARTS]; /* owned references */
    PyObject *tensors;      /* a list */
    int takes_variables;
} Key;

/* Append a part, whose reference moves into the key; return whether that succeeded. */
static int put(Key *key, PyObject *part)
{
    if (part == NULL) return 0;
    if (key->count == PARTS) {
        Py_DECREF(part);
        return 0;
    }
    key->parts[key->count++] = part;
    return 1;
}

static int put_type(Key *key, PyObject *x) { return put(key, Py_NewRef((PyObject *)Py_TYPE(x))); }

/* Return the abstract value of a tensor. */
static PyObject *kind_in(PyObject *x)
{
    PyObject *kind = AT(x, kind_offset);
    return kind == NULL || kind == Py_None ? PyObject_CallOneArg(kind_of, x) : Py_NewRef(kind);
}

static int put_tensor(Key *key, PyObject *x) { return put(key, kind_in(x)) && PyList_Append(key->tensors, x) == 0; }

static int put_variable(Key *key, PyObject *x)
{
    PyObject *owner = PyObject_GetAttr(x, name_owner);
    Py_XDECREF(owner);
    if (owner != Py_None) return 0;
    if (!key->takes_variables) {
        PyObject *value = PyObject_CallMethodNoArgs(x, name_value);
        int is_put = value != NULL && Py_IS_TYPE(value, Tensor) && put_tensor(key, value);
        Py_XDECREF(value);
        return is_put;
    }
    PyObject *spec = PyObject_GetAttr(x, name_spec);
    int is_put = spec != NULL && put_type(key, x) && put(key, PyObject_GetAttr(spec, name_dtype))
        && put(key, PyObject_GetAttr(spec, name_shape)) && PyList_Append(key->tensors, x) == 0;
    Py_XDECREF(spec);
    return is_put;
}

static int put_float(Key *key, PyObject *x)
{
    int is_zero = PyFloat_AS_DOUBLE(x) == 0.0; /* 0.0 and -0.0 are equal */
    return put_type(key, x) && put(key, is_zero ? PyObject_Str(x) : Py_NewRef(x));
}

static int is_atom(PyObject *x)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(atoms); i++)
        if ((PyObject *)Py_TYPE(x) == PyTuple_GET_ITEM(atoms, i)) return 1;
    return 0;
}

/* Append the parts for an argument; return whether it has a key. An error may be set if it has none. */
static int put_argument(Key *key, PyObject *x)
{
    if (Py_IS_TYPE(x, Tensor)) return put_tensor(key, x);
    if (is_atom(x)) return put_type(key, x) && put(key, Py_NewRef(x));
    if (PyFloat_CheckExact(x)) return put_float(key, x);
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) {
        if (PySequence_Fast_GET_SIZE(x) > LONGEST || key->count > MOST_PARTS) return 0;
        if (!put_type(key, x) || !put(key, PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(x)))) return 0;
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); i++) {
            PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(x, i));
            int is_put = put_argument(key, item);
            Py_DECREF(item);
            if (!is_put) return 0;
        }
        return 1;
    }
    if (Py_IS_TYPE(x, TensorShape)) return put_type(key, x) && put(key, PyObject_GetAttr(x, name_dims));
    return Py_IS_TYPE(x, Variable) && put_variable(key, x);
}

/* Return whether the arguments of a call have a key. */
static int put_arguments(Key *key, PyObject *args, PyObject *kwargs)
{
    PyObject *name, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(kwargs, &position, &name, &value))
        if (!put(key, Py_NewRef(name))) return 0;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++)
        if (!put_argument(key, PyTuple_GET_ITEM(args, i))) return 0;
    position = 0;
    while (PyDict_Next(kwargs, &position, &name, &value))
        if (!put_argument(key, value)) return 0;
    return 1;
}

/* Return the key as a tuple, which takes over the parts. */
static PyObject *taken(Key *key)
{
    PyObject *parts = PyTuple_New(key->count);
    for (Py_ssize_t i = 0; parts != NULL && i < key->count; i++) PyTuple_SET_ITEM(parts, i, key->parts[i]);
    if (parts != NULL) key->count = 0;
    return parts;
}

/* Runs ----------------------------------------------------------------------------------------------------------- */

/* Return a tensor of an array, whose reference moves into it. */
static PyObject *wrapped(PyObject *array, PyObject *kind)
{
    PyObject *tensor = array == NULL ? NULL : Tensor->tp_alloc(Tensor, 0);
    if (tensor == NULL) {
        Py_XDECREF(array);
        return NULL;
    }
    AT(tensor, array_offset) = array;
    AT(tensor, kind_offset) = Py_NewRef(kind);
    return tensor;
}

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

/* Tapes ---------------------------------------------------------------------------------------------------------- */

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

/* Return whether a tape tracks an input of an operation; -1 with an exception. Variables are watched when they are read. */
static int is_tracked(PyObject *tape, PyObject *tracked, PyObject *x)
{
    int found = has_key_of(tracked, x);
    if (found != 0 || Py_IS_TYPE(x, Tensor)) return found;
    PyObject *inputs = PyTuple_Pack(1, x);
    PyObject *nothing = inputs == NULL ? NULL : PyObject_CallMethodOneArg(tape, name_accessed, inputs);
    Py_XDECREF(inputs);
    Py_XDECREF(nothing);
    return nothing == NULL ? -1 : has_key_of(tracked, x);
}

/* Track an output if it carries gradients. */
static int track(PyObject *tracked, PyObject *y)
{
    int is_tensor = Py_IS_TYPE(y, Tensor);
    PyObject *kind = is_tensor ? kind_in(y) : NULL, *answer = NULL;
    if (!is_tensor) answer = PyObject_CallOneArg(carries, y);
    else if (kind != NULL) answer = PyObject_GetAttr(kind, name_carries);
    int is_carrier = answer == NULL ? -1 : PyObject_IsTrue(answer);
    Py_XDECREF(kind);
    Py_XDECREF(answer);
    return is_carrier == 1 ? add_key_of(tracked, y) : is_carrier;
}

static int add_record(PyObject *records, PyObject *const *parts)
{
    PyObject *made = Record->tp_alloc(Record, 0);
    if (made == NULL) return -1;
    for (int i = 0; i < RECORD_SITE; i++) AT(made, record_slots[i]) = Py_NewRef(parts[i]);
    AT(made, record_slots[RECORD_SITE]) = PyObject_CallNoArgs(site_of);
    int failed = AT(made, record_slots[RECORD_SITE]) == NULL ? -1 : PyList_Append(records, made);
    Py_DECREF(made);
    return failed;
}

/* Record an operation, given as op, inputs, attributes and outputs, if the tape tracks an input. */
static int tape_computed(PyObject *tape, PyObject *const *parts)
{
    PyObject *builder = PyObject_GetAttr(tape, name_builder), *tracked = NULL, *records = NULL;
    int is_wanted = 0, failed = builder == NULL ? -1 : 0;
    Py_XDECREF(builder);
    if (builder != Py_None) return failed;
    tracked = PyObject_GetAttr(tape, name_tracked);
    PyObject *inputs = PySequence_Fast(parts[RECORD_INPUTS], "inputs"), *outputs = NULL;
    if (tracked == NULL || inputs == NULL || !PySet_Check(tracked)) failed = -1;
    for (Py_ssize_t i = 0; failed == 0 && i < PySequence_Fast_GET_SIZE(inputs); i++) {
        int found = is_tracked(tape, tracked, PySequence_Fast_GET_ITEM(inputs, i));
        if (found < 0) failed = -1;
        is_wanted |= found > 0;
    }
    if (failed == 0 && is_wanted) {
        records = PyObject_GetAttr(tape, name_records);
        outputs = PySequence_Fast(parts[RECORD_OUTPUTS], "outputs");
        failed = records == NULL || outputs == NULL || !PyList_Check(records) ? -1 : add_record(records, parts);
        for (Py_ssize_t i = 0; failed == 0 && i < PySequence_Fast_GET_SIZE(outputs); i++)
            failed = track(tracked, PySequence_Fast_GET_ITEM(outputs, i));
    }
    Py_XDECREF(tracked);
    Py_XDECREF(inputs);
    Py_XDECREF(records);
    Py_XDECREF(outputs);
    if (failed != 0 && !PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "the tape does not record");
    return failed;
}

static PyObject *computed_on_tape(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5) return PyErr_Format(PyExc_TypeError, "tape_computed(tape, op, inputs, attrs, outputs)");
    if (tape_computed(args[0], args + 1) < 0) return NULL;
    Py_RETURN_NONE;
}

/* Append the parts of the flow's key for some tensors: the numbers of those that it has, the types of others. */
static PyObject *flow_types(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyDict_CheckExact(args[0]) || !PyList_CheckExact(args[1]) || !PyList_CheckExact(args[2]))
        return PyErr_Format(PyExc_TypeError, "flow_types(numbers, tensors, parts, values)");
    PyObject *numbers = args[0], *tensors = args[1], *parts = args[2], *values = PySequence_Fast(args[3], "values");
    int failed = values == NULL ? -1 : 0, is_known = 1;
    for (Py_ssize_t i = 0; failed == 0 && is_known && i < PySequence_Fast_GET_SIZE(values); i++) {
        PyObject *x = PySequence_Fast_GET_ITEM(values, i), *key = PyLong_FromVoidPtr(x), *part = NULL, *spec = NULL;
        PyObject *number = key == NULL ? NULL : PyDict_GetItemWithError(numbers, key);
        if (number != NULL) failed = PyList_Append(parts, number);
        else if (PyErr_Occurred()) failed = -1;
        else {
            PyObject *next = PyLong_FromSsize_t(PyList_GET_SIZE(tensors));
            failed = next == NULL || PyDict_SetItem(numbers, key, next) < 0 ? -1 : PyList_Append(tensors, x);
            Py_XDECREF(next);
            if (failed == 0 && Py_IS_TYPE(x, Tensor)) part = kind_in(x);
            else if (failed == 0 && Py_IS_TYPE(x, Variable)) {
                spec = PyObject_GetAttr(x, name_spec);
                PyObject *dtype = spec == NULL ? NULL : PyObject_GetAttr(spec, name_dtype);
                PyObject *shape = spec == NULL ? NULL : PyObject_GetAttr(spec, name_shape);
                if (dtype != NULL && shape != NULL) part = PyTuple_Pack(3, (PyObject *)Variable, dtype, shape);
                Py_XDECREF(dtype);
                Py_XDECREF(shape);
                Py_XDECREF(spec);
            }
            else is_known = 0;
            if (failed == 0 && is_known) failed = part == NULL ? -1 : PyList_Append(parts, part);
            Py_XDECREF(part);
        }
        Py_XDECREF(key);
    }
    Py_XDECREF(values);
    return failed != 0 ? NULL : PyBool_FromLong(is_known);
}

static int record(PyObject *recorders, PyObject *op, PyObject *tensors, PyObject *attributes, PyObject *outputs)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(recorders); i++) {
        PyObject *arguments[] = {Py_NewRef(PyList_GET_ITEM(recorders, i)), op, tensors, attributes, outputs};
        PyObject *nothing = NULL;
        int failed = 0;
        if (Tape != NULL && Py_IS_TYPE(arguments[0], Tape)) failed = tape_computed(arguments[0], arguments + 1);
        else failed = (nothing = PyObject_VectorcallMethod(name_computed, arguments, 5, NULL)) == NULL ? -1 : 0;
        Py_DECREF(arguments[0]);
        Py_XDECREF(nothing);
        if (failed != 0) return -1;
    }
    return 0;
}

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
        PyObject *x = PyList_GET_ITEM(inputs, i), *array = Py_IS_TYPE(x, Tensor) ? AT(x, array_offset) : NULL;
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
    if (found != NULL && SLOT(call, RETURNS_MANY) == Py_True) {
        result = PyObject_CallMethodOneArg(call, name_several, found);
        Py_DECREF(found);
    }
    else if (found != NULL)
        result = wrapped(as_array(found, SLOT(call, DTYPE)), SLOT(call, KIND));
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
        if (!Py_IS_TYPE(call, EagerCall) || SLOT(call, i) == NULL) return 0;
    return PyTuple_CheckExact(SLOT(call, TAIL)) && PyList_CheckExact(SLOT(call, TEMPLATE))
        && (SLOT(call, POSITIONS) == Py_None || PyList_CheckExact(SLOT(call, POSITIONS)))
        && PyList_GET_SIZE(SLOT(call, TEMPLATE)) + PyTuple_GET_SIZE(SLOT(call, TAIL)) <= ARRAYS;
}

static PyObject *run_kept(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 5 || !PyDict_CheckExact(args[0]) || !PyTuple_CheckExact(args[1]) || !PyDict_CheckExact(args[2])
        || !PyList_CheckExact(args[4]))
        return PyErr_Format(PyExc_TypeError, "run_kept(calls, args, kwargs, takes_variables, recorders)");
    Key key = {.count = 0, .tensors = PyList_New(0), .takes_variables = args[3] == Py_True};
    if (key.tensors == NULL) return NULL;
    PyObject *result = NULL, *parts = NULL, *call = NULL;
    int has_key = put_arguments(&key, args[1], args[2]);
    if (has_key) parts = taken(&key);
    if (parts != NULL) call = PyDict_GetItemWithError(args[0], parts);
    Py_XINCREF(call);
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

/* Record an elementwise operation. */
static int record_elements(PyObject *recorders, PyObject *op, PyObject *kept, PyObject *const *x, int size, PyObject *y)
{
    PyObject *inputs = size == 1 ? PyTuple_Pack(1, x[0]) : PyTuple_Pack(2, x[0], x[1]), *outputs = PyTuple_Pack(1, y);
    int failed = inputs == NULL || outputs == NULL ? -1 : record(recorders, op, inputs, kept, outputs);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return failed;
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
    PyObject *result = wrapped(as_array(found, Py_None), Py_None);
    if (result == NULL && PyErr_ExceptionMatches(refused)) { /* the complete way raises the full message */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (result != NULL && PyList_GET_SIZE(args[3]) > 0
        && record_elements(args[3], args[4], args[5], args + 6, size, result) < 0)
        Py_CLEAR(result);
    return result;
}

/* Module --------------------------------------------------------------------------------------------------------- */

/* Return the offset of an object slot of a class, or -1 with an exception. */
static Py_ssize_t slot_offset(PyTypeObject *type, const char *name)
{
    PyObject *slot = PyObject_GetAttrString((PyObject *)type, name);
    if (slot == NULL) return -1;
    Py_ssize_t offset = -1;
    if (Py_IS_TYPE(slot, &PyMemberDescr_Type) && PyType_IsSubtype(type, PyDescr_TYPE(slot))
        && ((PyMemberDescrObject *)slot)->d_member->type == T_OBJECT_EX)
        offset = ((PyMemberDescrObject *)slot)->d_member->offset;
    else
        PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
    Py_DECREF(slot);
    return offset;
}

static PyObject *register_classes(PyObject *module, PyObject *args)
{
    PyObject *given[10];
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!OOOOO", &PyType_Type, &given[0], &PyType_Type, &given[1], &PyType_Type,
                          &given[2], &PyType_Type, &given[3], &PyTuple_Type, &given[4], &given[5], &given[6],
                          &given[7], &given[8], &given[9]))
        return NULL;
    if ((array_offset = slot_offset((PyTypeObject *)given[0], "_array")) < 0) return NULL;
    if ((kind_offset = slot_offset((PyTypeObject *)given[0], "_kind")) < 0) return NULL;
    for (int i = 0; i < SLOTS; i++)
        if ((slots[i] = slot_offset((PyTypeObject *)given[2], slot_names[i])) < 0) return NULL;
    PyObject **kept[] = {(PyObject **)&Tensor, (PyObject **)&Variable, (PyObject **)&EagerCall,
                         (PyObject **)&TensorShape, &atoms, &kind_of, &silence, &begin, &end, &refused};
    for (int i = 0; i < 10; i++) Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    Py_RETURN_NONE;
}

static PyObject *register_tape(PyObject *module, PyObject *args)
{
    PyObject *given[4];
    if (!PyArg_ParseTuple(args, "O!O!OO", &PyType_Type, &given[0], &PyType_Type, &given[1], &given[2], &given[3]))
        return NULL;
    for (int i = 0; i < RECORD_SLOTS; i++)
        if ((record_slots[i] = slot_offset((PyTypeObject *)given[1], record_names[i])) < 0) return NULL;
    PyObject **kept[] = {(PyObject **)&Tape, (PyObject **)&Record, &site_of, &carries};
    for (int i = 0; i < 4; i++) Py_XSETREF(*kept[i], Py_NewRef(given[i]));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register", register_classes, METH_VARARGS,
     "register(tensor_class, variable_class, call_class, shape_class, atoms, kind_of, silence, begin, end, refused)\n"
     "--\n\nSet the classes and functions that calls use."},
    {"run_kept", (PyCFunction)(void (*)(void))run_kept, METH_FASTCALL,
     "run_kept(calls, args, kwargs, takes_variables, recorders)\n--\n\nReturn the result of the call that is kept for "
     "these arguments; else the key (None if there is none) and the number of tensors."},
    {"elementwise", (PyCFunction)(void (*)(void))elementwise, METH_FASTCALL,
     "elementwise(compute, accepted, on_numbers, recorders, op, kept, x, y)\n--\n\nReturn the result of an elementwise "
     "operation on tensors of one accepted dtype, or None."},
    {"register_tape", register_tape, METH_VARARGS,
     "register_tape(tape_class, record_class, site, carries_gradient)\n--\n\nSet the classes and functions of tapes."},
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
    struct { PyObject **at; const char *text; } names[] = {
        {&name_computed, "computed"}, {&name_failed, "failed"}, {&name_several, "several"}, {&name_owner, "_owner"},
        {&name_value, "value"}, {&name_dims, "dims"}, {&name_spec, "content_spec"}, {&name_dtype, "dtype"},
        {&name_shape, "shape"}, {&name_builder, "_builder"}, {&name_tracked, "_tracked"}, {&name_records, "_records"},
        {&name_accessed, "_accessed"}, {&name_carries, "carries_gradient"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL) return NULL;
    return PyModule_Create(&definition);
}

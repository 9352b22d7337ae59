/* Keys of whole tapes: what identifies the operations of records, the types of their tensors, and how these flow.

   h = matmul(x, w),  y = relu(h)   →   tensors [x, w, h, y],   key (matmul, type of x, …, relu, …, numbers 0 1 2, 2 3)

   autodiff/tape_plans.py has the same in Python. */

#include "native_tape.h"

#define UNKNOWN UINT32_MAX /* the number of a source that no record has */

typedef struct { PyObject *x; uint32_t number; } Place;

typedef struct {
    Place *places; /* a hash table of tensors by identity */
    size_t size;
    PyObject *tensors, *parts; /* two lists */
    uint32_t *numbers;
    Py_ssize_t count, room;
} TapeFlow;

/* Return the type of a tensor, a variable or a TensorArray as part of a key; NULL for other values. */
static PyObject *type_part(PyObject *x)
{
    if (Py_IS_TYPE(x, Tensor)) return kind_in(x);
    PyObject *content = IS_A(x, Variable) || IS_A(x, TensorArray) ? content_of(x) : NULL;
    if (content == NULL) return NULL;
    PyObject *dtype = PyObject_GetAttr(content, name_dtype), *shape = PyObject_GetAttr(content, name_shape);
    PyObject *part = dtype == NULL || shape == NULL ? NULL : PyTuple_Pack(3, Py_TYPE(x), dtype, shape);
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_DECREF(content);
    return part;
}

static Place *place_in(Place *places, size_t size, PyObject *x)
{
    size_t at = (size_t)(((uintptr_t)x >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (size - 1);
    while (places[at].x != NULL && places[at].x != x) at = (at + 1) & (size - 1);
    return places + at;
}

/* Make room for a tensor that is new, and return its place; NULL with an exception. */
static Place *new_place(TapeFlow *flow, PyObject *x)
{
    if (2 * (size_t)PyList_GET_SIZE(flow->tensors) >= flow->size) {
        size_t size = flow->size == 0 ? 64 : 2 * flow->size;
        Place *larger = PyMem_Calloc(size, sizeof(Place));
        if (larger == NULL) return (Place *)PyErr_NoMemory();
        for (size_t i = 0; i < flow->size; i++)
            if (flow->places[i].x != NULL) *place_in(larger, size, flow->places[i].x) = flow->places[i];
        PyMem_Free(flow->places);
        flow->places = larger;
        flow->size = size;
    }
    return place_in(flow->places, flow->size, x);
}

static int add_number(TapeFlow *flow, Py_ssize_t number)
{
    if (flow->count == flow->room) {
        Py_ssize_t room = flow->room == 0 ? 128 : 2 * flow->room;
        uint32_t *larger = PyMem_Realloc(flow->numbers, room * sizeof(uint32_t));
        if (larger == NULL) return PyErr_NoMemory() == NULL ? -1 : 0;
        flow->numbers = larger;
        flow->room = room;
    }
    flow->numbers[flow->count++] = (uint32_t)number;
    return 0;
}

/* Append a tensor's number, and the type of a new one; return 0 if it has none, -1 with an exception. */
static int add_tensor(TapeFlow *flow, PyObject *x)
{
    if (Py_IS_TYPE(x, Tensor) && AT(x, array_offset) == Py_None) return add_number(flow, UNKNOWN) < 0 ? -1 : 1;
    Place *place = flow->size == 0 ? NULL : place_in(flow->places, flow->size, x);
    if (place != NULL && place->x == x) return add_number(flow, place->number) < 0 ? -1 : 1;
    if ((place = new_place(flow, x)) == NULL) return -1;
    Py_ssize_t number = PyList_GET_SIZE(flow->tensors);
    place->x = x; /* the list has a reference */
    place->number = (uint32_t)number;
    if (PyList_Append(flow->tensors, x) < 0 || add_number(flow, number) < 0) return -1;
    PyObject *part = type_part(x);
    int failed = part == NULL ? -1 : PyList_Append(flow->parts, part);
    Py_XDECREF(part);
    return failed == 0 ? 1 : PyErr_Occurred() ? -1 : 0;
}

static int add_tensors(TapeFlow *flow, PyObject *given)
{
    PyObject *values = PySequence_Fast(given, "values");
    int found = values == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; found > 0 && i < PySequence_Fast_GET_SIZE(values); i++)
        found = add_tensor(flow, PySequence_Fast_GET_ITEM(values, i));
    Py_XDECREF(values);
    return found;
}

/* Append what identifies a record's operation and attributes, its inputs and its outputs; return 0 if it has no key. */
static int add_to_flow(TapeFlow *flow, PyObject *record, PyObject *handing_on)
{
    if (!PyObject_TypeCheck(record, ((PyTypeObject *)Record)->tp_base)) return 0;
    PyObject *kept = AT(record, record_slots[RECORD_ATTRS]), *inputs = AT(record, record_slots[RECORD_INPUTS]);
    if (kept == NULL || inputs == NULL) return 0; /* those of graphs are in no slots */
    if (!PyObject_TypeCheck(kept, (PyTypeObject *)KeptAttributes)) {
        kept = AT(record, record_slots[RECORD_OP]);
        int hands_on = PySet_Contains(handing_on, kept);
        if (hands_on <= 0) return hands_on;
    }
    if (PyList_Append(flow->parts, kept) < 0) return -1;
    int found = add_tensors(flow, inputs);
    return found > 0 ? add_tensors(flow, AT(record, record_slots[RECORD_OUTPUTS])) : found;
}

/* Append the numbers of tensors that count from a later record on, and of these records. */
static int add_since(TapeFlow *flow, PyObject *since)
{
    PyObject *key, *value;
    for (Py_ssize_t at = 0; flow->size > 0 && PyDict_Next(since, &at, &key, &value);) {
        Py_ssize_t first = PyLong_CheckExact(key) ? PyLong_AsSsize_t(value) : 0;
        Place *place = first == 0 ? NULL : place_in(flow->places, flow->size, PyLong_AsVoidPtr(key));
        if (PyErr_Occurred()) return -1;
        if (place != NULL && place->x != NULL && (add_number(flow, place->number) < 0 || add_number(flow, first) < 0))
            return -1;
    }
    return 0;
}

/* Return the tensors and the parts of a flow, which end with its numbers. */
static PyObject *flow_parts(TapeFlow *flow)
{
    PyObject *numbers = PyBytes_FromStringAndSize((char *)flow->numbers, flow->count * sizeof(uint32_t)), *key = NULL;
    if (numbers != NULL && PyList_Append(flow->parts, numbers) == 0) key = PyList_AsTuple(flow->parts);
    PyObject *result = key == NULL ? NULL : PyTuple_Pack(2, flow->tensors, key);
    Py_XDECREF(numbers);
    Py_XDECREF(key);
    return result;
}

/* Return the tensors of records and ends, and the key of their flow; None if they have none. */
static PyObject *flow_key(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyList_CheckExact(args[0]) || !PyAnySet_Check(args[1]) || !PyDict_CheckExact(args[3]) || Record == NULL)
        return PyErr_Format(PyExc_TypeError, "flow_key(records, handing_on, ends, since)");
    TapeFlow flow = {.tensors = PyList_New(0), .parts = PyList_New(0)};
    int found = flow.tensors == NULL || flow.parts == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; found > 0 && i < PyList_GET_SIZE(args[0]); i++) {
        PyObject *record = Py_NewRef(PyList_GET_ITEM(args[0], i));
        found = add_to_flow(&flow, record, args[1]);
        Py_DECREF(record);
    }
    if (found > 0) found = add_tensors(&flow, args[2]);
    if (found > 0 && add_since(&flow, args[3]) < 0) found = -1;
    PyObject *result = found > 0 ? flow_parts(&flow) : found == 0 ? Py_NewRef(Py_None) : NULL;
    Py_XDECREF(flow.tensors);
    Py_XDECREF(flow.parts);
    PyMem_Free(flow.places);
    PyMem_Free(flow.numbers);
    return result;
}

/* Backward sweeps of eager tapes: cotangents of sources from those of targets, through the records in reverse order.

   forward    which inputs of each record depend on a source
   backward   cotangents of outputs   →   plan of the gradient function, or `pulled` in Python   →   cotangents of inputs

   autodiff/backprop.py has the same in Python, which also takes the records of graphs. */

#include "native_cotangents.h"

/* Set the tensors of a record as new sequences that nothing else changes; return whether there are only eager ones. */
static int tensors_of(PyObject *record, PyObject **inputs, PyObject **outputs)
{
    PyObject *given[] = {AT(record, record_slots[RECORD_INPUTS]), AT(record, record_slots[RECORD_OUTPUTS])}, *found[2] = {NULL};
    int are_eager = given[0] != NULL && given[1] != NULL; /* those of graphs are in no slots */
    for (int i = 0; are_eager && i < 2; i++) {
        found[i] = PySequence_Tuple(given[i]);
        are_eager = found[i] != NULL;
        for (Py_ssize_t j = 0; are_eager && j < PyTuple_GET_SIZE(found[i]); j++) {
            PyObject *x = PyTuple_GET_ITEM(found[i], j);
            are_eager = Py_IS_TYPE(x, Tensor) || IS_A(x, Variable) || IS_A(x, TensorArray);
        }
    }
    *inputs = found[0];
    *outputs = found[1];
    return are_eager;
}

static int make_room(Sweep *sweep, Py_ssize_t end)
{
    if (end <= sweep->room) return 0;
    char *larger = PyMem_Realloc(sweep->flags, 2 * end);
    if (larger == NULL) return PyErr_NoMemory() == NULL ? -1 : 0;
    sweep->flags = larger;
    sweep->room = 2 * end;
    return 0;
}

/* Set the flags of the inputs of a record; return 0 if it has other than eager tensors, -1 with an exception. */
static int look_forward(Sweep *sweep, Py_ssize_t number)
{
    PyObject *inputs, *outputs;
    int found = tensors_of(PyList_GET_ITEM(sweep->records, number), &inputs, &outputs), any = 0;
    Py_ssize_t first = sweep->first[number], size = found ? PyTuple_GET_SIZE(inputs) : 0;
    sweep->first[number + 1] = first + size;
    if (make_room(sweep, first + size) < 0) found = -1;
    for (Py_ssize_t i = 0; found > 0 && i < size; i++) {
        Flow *flow = place_of(sweep, PyTuple_GET_ITEM(inputs, i));
        int flag = flow->is_active && flow->since <= number ? is_carrier(flow->x) : 0;
        if (flag < 0) found = -1;
        else any |= sweep->flags[first + i] = flag;
    }
    for (Py_ssize_t i = 0; found > 0 && any && i < PyTuple_GET_SIZE(outputs); i++) {
        Flow *flow = flow_of(sweep, PyTuple_GET_ITEM(outputs, i));
        if (flow == NULL) found = -1;
        else flow->is_active = 1;
    }
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    return PyErr_Occurred() ? -1 : found;
}

static int is_on_the_way(Sweep *sweep, Py_ssize_t number)
{
    Py_ssize_t first = sweep->first[number], size = sweep->first[number + 1] - first;
    return size > 0 && memchr(sweep->flags + first, 1, size) != NULL;
}

/* Return the cotangents of the outputs of a record; NULL without an exception if all are None. */
static PyObject *cotangents_of_outputs(Sweep *sweep, PyObject *outputs)
{
    PyObject *grads = PyList_New(PyTuple_GET_SIZE(outputs));
    int any = 0;
    for (Py_ssize_t i = 0; grads != NULL && i < PyList_GET_SIZE(grads); i++) {
        PyObject *grad = cotangent_of(sweep, PyTuple_GET_ITEM(outputs, i));
        any |= grad != Py_None;
        if (grad == NULL) Py_CLEAR(grads);
        else PyList_SET_ITEM(grads, i, grad);
    }
    if (!any) Py_CLEAR(grads);
    return grads;
}

static int make_dense(PyObject *grads)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(grads); i++) {
        PyObject *grad = PyList_GET_ITEM(grads, i);
        if (grad == Py_None || Py_IS_TYPE(grad, Tensor)) continue;
        if ((grad = PyObject_CallOneArg(dense, grad)) == NULL || PyList_SetItem(grads, i, grad) < 0) return -1;
    }
    return 0;
}

/* Hand the cotangents of a record's outputs on to its inputs; -1 with an exception. */
static int go_back(Sweep *sweep, Py_ssize_t number)
{
    PyObject *record = PyList_GET_ITEM(sweep->records, number), *inputs, *outputs, *grads = NULL, *found = NULL;
    int failed = tensors_of(record, &inputs, &outputs) ? 0 : -1;
    Py_ssize_t first = sweep->first[number], size = sweep->first[number + 1] - first;
    if (!PyErr_Occurred() && (failed != 0 || PyTuple_GET_SIZE(inputs) != size)) {
        PyErr_SetString(PyExc_RuntimeError, "a record changed during the backward pass");
        failed = -1;
    }
    if (failed == 0) grads = cotangents_of_outputs(sweep, outputs);
    int hands_on = grads == NULL ? 0 : PySet_Contains(handing_on, AT(record, record_slots[RECORD_OP]));
    if (hands_on > 0) failed = add_cotangent(sweep, PyTuple_GET_ITEM(inputs, 0), PyList_GET_ITEM(grads, 0));
    else if (grads != NULL && hands_on == 0 && make_dense(grads) == 0) {
        PyObject *given = cotangents_of_inputs(record, grads, outputs, inputs, sweep->flags + first);
        found = given == NULL ? NULL : PySequence_Fast(given, "cotangents");
        Py_XDECREF(given);
    }
    if (found != NULL && PySequence_Fast_GET_SIZE(found) != size)
        PyErr_Format(PyExc_ValueError, "a gradient function returned %zd cotangents, not %zd",
                     PySequence_Fast_GET_SIZE(found), size);
    for (Py_ssize_t i = 0; found != NULL && !PyErr_Occurred() && i < size; i++)
        failed |= add_cotangent(sweep, PyTuple_GET_ITEM(inputs, i), PySequence_Fast_GET_ITEM(found, i));
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    Py_XDECREF(grads);
    Py_XDECREF(found);
    return failed || PyErr_Occurred() ? -1 : 0;
}

/* Make the sources and targets known; return 0 if one is not eager, -1 with an exception. */
static int set_ends(Sweep *sweep, PyObject *targets, PyObject *sources)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(sources); i++) {
        PyObject *x = PyList_GET_ITEM(sources, i);
        if (!Py_IS_TYPE(x, Tensor) && !IS_A(x, Variable)) return 0;
        Flow *flow = flow_of(sweep, x);
        if (flow == NULL) return -1;
        flow->is_sought = flow->is_active = 1;
    }
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(targets); i++) {
        PyObject *pair = PyList_GET_ITEM(targets, i);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return 0;
        PyObject *y = PyTuple_GET_ITEM(pair, 0);
        if (!Py_IS_TYPE(y, Tensor) && !IS_A(y, Variable) && !IS_A(y, TensorArray)) return 0;
        if (add_cotangent(sweep, y, PyTuple_GET_ITEM(pair, 1)) < 0) return -1;
    }
    return 1;
}

/* Return the cotangents of the sources; None if a record or a tensor is not eager. */
static PyObject *swept(Sweep *sweep, PyObject *targets, PyObject *sources)
{
    int found = set_ends(sweep, targets, sources);
    Py_ssize_t count = PyList_GET_SIZE(sweep->records);
    for (Py_ssize_t i = 0; found > 0 && i < count; i++) found = look_forward(sweep, i);
    if (found == 0) Py_RETURN_NONE;
    for (Py_ssize_t i = count - 1; found > 0 && i >= 0; i--)
        if (is_on_the_way(sweep, i)) found = go_back(sweep, i) < 0 ? -1 : 1;
    PyObject *results = found < 0 ? NULL : PyList_New(PyList_GET_SIZE(sources));
    for (Py_ssize_t i = 0; results != NULL && i < PyList_GET_SIZE(results); i++) {
        PyObject *grad = cotangent_of(sweep, PyList_GET_ITEM(sources, i));
        if (grad == NULL) Py_CLEAR(results);
        else PyList_SET_ITEM(results, i, grad);
    }
    return results;
}

static PyObject *sweep_back(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 4 || !PyList_CheckExact(args[0]) || !PyList_CheckExact(args[1]) || !PyList_CheckExact(args[2])
        || !PyDict_CheckExact(args[3]) || Record == NULL || GradientPlan == NULL || pulled == NULL)
        return PyErr_Format(PyExc_TypeError, "sweep(records, targets, sources, since)");
    Py_ssize_t records = PyList_GET_SIZE(args[0]);
    Sweep sweep = {.size = 64, .since = args[3], .records = PyList_GetSlice(args[0], 0, records)};
    PyObject *result = NULL;
    sweep.flows = PyMem_Calloc(sweep.size, sizeof(Flow));
    sweep.first = PyMem_Calloc(records + 1, sizeof(Py_ssize_t));
    int is_known = sweep.records != NULL;
    for (Py_ssize_t i = 0; is_known && i < records; i++)
        is_known = PyObject_TypeCheck(PyList_GET_ITEM(sweep.records, i), ((PyTypeObject *)Record)->tp_base);
    if (sweep.flows == NULL || sweep.first == NULL) PyErr_NoMemory();
    else if (!is_known) result = PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    else result = swept(&sweep, args[1], args[2]);
    forget_sweep(&sweep);
    return result;
}

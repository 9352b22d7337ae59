/* The cotangents of a backward sweep, by tensor, and those of the inputs of a record from plans.

   cotangents of outputs   →   plan of the gradient function, or `pulled` in Python   →   cotangents of inputs

   autodiff/backprop.py and eager_gradients.py have the same in Python. */

#include "native_flow.h"

enum { PLAN_ARGUMENTS, PLAN_RUN, PLAN_COUNTS, PLAN_HAS_TENSORS, PLAN_SLOTS };
static const char *const plan_names[PLAN_SLOTS] = {"_arguments", "_run", "counts", "has_tensors"};

static PyObject *GradientPlan, *add, *total, *dense, *pulled, *handing_on; /* set by `register` when gradients are imported */
static Py_ssize_t plan_slots[PLAN_SLOTS], plans_offset;

static PyObject *eager_recorders(void);

/* The cotangents of a tensor or variable. */
typedef struct {
    PyObject *x, *grad; /* `grad` is one cotangent, or a list of them; NULL if there is none */
    Py_ssize_t since;   /* the first record in which it counts */
    char has_many, is_active, is_sought;
} Flow;

typedef struct {
    Flow *flows; /* a hash table of objects by identity */
    size_t size, used;
    PyObject *since, *records;
    Py_ssize_t *first; /* by record: the position of the flags of its inputs, which end where those of the next begin */
    char *flags;       /* whether an input depends on a source */
    Py_ssize_t room;
} Sweep;

static Flow *place_of(Sweep *sweep, PyObject *x)
{
    size_t mask = sweep->size - 1, at = (size_t)(((uintptr_t)x >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (sweep->flows[at].x != NULL && sweep->flows[at].x != x) at = (at + 1) & mask;
    return sweep->flows + at;
}

static int grow(Sweep *sweep)
{
    Sweep larger = {.size = 2 * sweep->size};
    larger.flows = PyMem_Calloc(larger.size, sizeof(Flow));
    if (larger.flows == NULL) return PyErr_NoMemory() != NULL;
    for (size_t i = 0; i < sweep->size; i++)
        if (sweep->flows[i].x != NULL) *place_of(&larger, sweep->flows[i].x) = sweep->flows[i];
    PyMem_Free(sweep->flows);
    sweep->flows = larger.flows;
    sweep->size = larger.size;
    return 1;
}

/* Return the entry of an eager value, which is valid until the next call; NULL with an exception. */
static Flow *flow_of(Sweep *sweep, PyObject *x)
{
    Flow *found = place_of(sweep, x);
    if (found->x != NULL) return found;
    if (2 * ++sweep->used > sweep->size) {
        if (!grow(sweep)) return NULL;
        found = place_of(sweep, x);
    }
    PyObject *key = PyLong_FromVoidPtr(x), *since = NULL;
    if (key != NULL) since = PyDict_GetItemWithError(sweep->since, key);
    Py_XDECREF(key);
    found->since = since == NULL ? 0 : PyLong_AsSsize_t(since);
    if (PyErr_Occurred()) return NULL;
    found->x = Py_NewRef(x);
    return found;
}

static void forget_sweep(Sweep *sweep)
{
    for (size_t i = 0; sweep->flows != NULL && i < sweep->size; i++) {
        Py_XDECREF(sweep->flows[i].x);
        Py_XDECREF(sweep->flows[i].grad);
    }
    PyMem_Free(sweep->flows);
    PyMem_Free(sweep->first);
    PyMem_Free(sweep->flags);
    Py_XDECREF(sweep->records);
}

/* Cotangents ----------------------------------------------------------------------------------------------------- */

static int add_cotangent(Sweep *sweep, PyObject *x, PyObject *grad)
{
    Flow *flow = grad == Py_None ? NULL : flow_of(sweep, x);
    if (flow == NULL) return grad == Py_None ? 0 : -1;
    if (flow->has_many) return PyList_Append(flow->grad, grad);
    if (flow->grad == NULL) flow->grad = Py_NewRef(grad);
    else {
        PyObject *both = PyList_New(2);
        if (both == NULL) return -1;
        PyList_SET_ITEM(both, 0, flow->grad);
        PyList_SET_ITEM(both, 1, Py_NewRef(grad));
        flow->grad = both;
        flow->has_many = 1;
    }
    return 0;
}

/* Return the sum of cotangents in the order of the program, which is the reverse of theirs. */
static PyObject *sum_of(PyObject *grads)
{
    Py_ssize_t last = PyList_GET_SIZE(grads) - 1;
    for (Py_ssize_t i = 0; i <= last; i++)
        if (!Py_IS_TYPE(PyList_GET_ITEM(grads, i), Tensor))
            return PyList_Reverse(grads) < 0 ? NULL : PyObject_CallOneArg(total, grads);
    PyObject *whole = Py_NewRef(PyList_GET_ITEM(grads, last));
    for (Py_ssize_t i = last - 1; whole != NULL && i >= 0; i--)
        Py_SETREF(whole, PyObject_CallFunctionObjArgs(add, whole, PyList_GET_ITEM(grads, i), NULL));
    return whole;
}

/* Return the cotangent of a value, or None; those of sources are kept. */
static PyObject *cotangent_of(Sweep *sweep, PyObject *x)
{
    Flow *flow = flow_of(sweep, x);
    if (flow == NULL) return NULL;
    PyObject *found = flow->grad, *grads;
    if (found == NULL) return Py_NewRef(Py_None);
    int is_sought = flow->is_sought;
    flow->grad = NULL;
    if (flow->has_many) {
        flow->has_many = 0;
        grads = found;
        found = sum_of(grads);
        Py_DECREF(grads);
    }
    if (found != NULL && is_sought && add_cotangent(sweep, x, found) < 0) Py_CLEAR(found);
    return found;
}

/* Plans ---------------------------------------------------------------------------------------------------------- */

/* Return whether nothing records operations: a gradient function in Python may have changed that. */
static int is_plain(void)
{
    PyObject *recorders = eager_recorders();
    int found = recorders != NULL && PyList_GET_SIZE(recorders) == 0;
    Py_XDECREF(recorders);
    return found;
}

/* Return the key of the plan for a record, as `planned` of eager_gradients.py does; NULL without an exception if it has none. */
static PyObject *plan_key(PyObject *inputs, PyObject *grads, const char *flags)
{
    Py_ssize_t count = PySequence_Fast_GET_SIZE(inputs), outputs = PyList_GET_SIZE(grads);
    PyObject *key = PyTuple_New(2 * count + outputs);
    for (Py_ssize_t i = 0; key != NULL && i < 2 * count + outputs; i++) {
        PyObject *x = i < count ? NULL : i < 2 * count ? PySequence_Fast_GET_ITEM(inputs, i - count)
                                                       : PyList_GET_ITEM(grads, i - 2 * count);
        PyObject *part = NULL;
        if (x == NULL) part = PyBool_FromLong(flags[i]);
        else if (Py_IS_TYPE(x, Tensor)) part = kind_in(x);
        else if (x == Py_None) part = Py_NewRef(x);
        if (part != NULL) PyTuple_SET_ITEM(key, i, part);
        else Py_CLEAR(key);
    }
    return key;
}

/* Return the tensor of a plan at a position; NULL without an exception if there is none. */
static PyObject *plan_tensor(Py_ssize_t at, PyObject *grads, PyObject *outputs, PyObject *inputs)
{
    PyObject *parts[] = {grads, outputs, inputs}, *x = NULL;
    for (int i = 0; i < 3 && x == NULL && at >= 0; i++) {
        Py_ssize_t size = PySequence_Fast_GET_SIZE(parts[i]);
        if (at < size) x = PySequence_Fast_GET_ITEM(parts[i], at);
        at -= size;
    }
    return x != NULL && Py_IS_TYPE(x, Tensor) ? x : NULL;
}

/* Return the results of a plan, which are tensors and None; NULL without an exception if it does not take the record. */
static PyObject *run_plan(PyObject *plan, PyObject *grads, PyObject *outputs, PyObject *inputs)
{
    PyObject *numbers = AT(plan, plan_slots[PLAN_ARGUMENTS]), *counts = AT(plan, plan_slots[PLAN_COUNTS]);
    if (!PyList_CheckExact(numbers) || !PyList_CheckExact(counts)) return NULL;
    PyObject *arrays = PyList_New(0), *found = NULL, *values = NULL, *results = NULL;
    int failed = arrays == NULL;
    for (Py_ssize_t i = 0; !failed && i < PyList_GET_SIZE(numbers); i++) {
        PyObject *x = plan_tensor(PyLong_AsSsize_t(PyList_GET_ITEM(numbers, i)), grads, outputs, inputs);
        failed = x == NULL || PyList_Append(arrays, AT(x, array_offset)) < 0;
    }
    if (!failed) found = PyObject_CallOneArg(AT(plan, plan_slots[PLAN_RUN]), arrays);
    if (found != NULL) values = PySequence_Fast(found, "results of a plan");
    if (values != NULL) results = PyList_New(0);
    for (Py_ssize_t i = 0, next = 0; results != NULL && i < PyList_GET_SIZE(counts); i++) {
        PyObject *grad = Py_NewRef(Py_None);
        if (PyLong_AsSsize_t(PyList_GET_ITEM(counts, i)) > 0 && next < PySequence_Fast_GET_SIZE(values)) {
            PyObject *value = Py_NewRef(PySequence_Fast_GET_ITEM(values, next++));
            if (!PyArray_CheckExact(value)) Py_SETREF(value, PyArray_FromAny(value, NULL, 0, 0, NPY_ARRAY_ENSUREARRAY, NULL));
            Py_SETREF(grad, new_tensor(value, Py_None));
        }
        if (grad == NULL || PyList_Append(results, grad) < 0) Py_CLEAR(results);
        Py_XDECREF(grad);
    }
    Py_XDECREF(arrays);
    Py_XDECREF(found);
    Py_XDECREF(values);
    return results;
}

/* Return the cotangents of the inputs of a record. */
static PyObject *cotangents_of_inputs(PyObject *record, PyObject *grads, PyObject *outputs, PyObject *inputs, const char *flags)
{
    PyObject *kept = AT(record, record_slots[RECORD_ATTRS]), *plan = NULL, *found = NULL;
    int may_have_plan = kept != NULL && IS_A(kept, KeptAttributes) && is_plain();
    PyObject *key = may_have_plan ? plan_key(inputs, grads, flags) : NULL;
    PyObject *plans = key == NULL ? NULL : AT(kept, plans_offset);
    if (plans != NULL && PyDict_CheckExact(plans)) plan = Py_XNewRef(PyDict_GetItemWithError(plans, key));
    if (plan != NULL && IS_A(plan, GradientPlan) && AT(plan, plan_slots[PLAN_HAS_TENSORS]) == Py_True)
        found = run_plan(plan, grads, outputs, inputs);
    Py_XDECREF(key);
    Py_XDECREF(plan);
    if (found != NULL || PyErr_Occurred()) return found;
    PyObject *wanted = PyList_New(PySequence_Fast_GET_SIZE(inputs));
    for (Py_ssize_t i = 0; wanted != NULL && i < PyList_GET_SIZE(wanted); i++)
        PyList_SET_ITEM(wanted, i, PyBool_FromLong(flags[i]));
    if (wanted != NULL) found = PyObject_CallFunctionObjArgs(pulled, record, grads, wanted, NULL);
    Py_XDECREF(wanted);
    return found;
}

/* Calls of native kernels without Python code in between: an optional extension module.

   f(x, n=3)   →   FastCall: the first FastPath that matches the arguments   →   Kernel   →   tensors
                   no match: `fallback`, in Python

   A Kernel checks arrays, allocates results and runs machine code; called with a list of arrays, it returns a tuple.
   Only public functions of CPython and NumPy are used. Matching runs no Python code, so that borrowed references stay
   valid. */

#include "../../../core/native_tensors.h"

#define FEW 24 /* arrays of a call that need no memory from the heap */

static PyObject *busy;       /* the list of reasons why fast paths are disabled */
static PyObject *array_name; /* "_array" */
static int interrupted;      /* the code of a run that has set an exception */

/* Arrays of one call ------------------------------------------------------------------------------------------- */

typedef struct {
    PyArray_Descr *dtype;
    int rank;
    npy_intp sizes[NPY_MAXDIMS];
} Spec;

typedef struct {
    Py_ssize_t count;
    PyObject **objects; /* owned references, or NULL: the inputs, then the results */
    void **addresses;   /* of their elements */
    PyObject *few_objects[FEW];
    void *few_addresses[FEW];
} Arrays;

static int arrays_init(Arrays *a, Py_ssize_t count)
{
    a->count = count;
    a->objects = a->few_objects;
    a->addresses = a->few_addresses;
    if (count > FEW) {
        a->objects = PyMem_New(PyObject *, count);
        a->addresses = PyMem_New(void *, count);
        if (a->objects == NULL || a->addresses == NULL) {
            PyMem_Free(a->objects);
            PyMem_Free(a->addresses);
            PyErr_NoMemory();
            return -1;
        }
    }
    for (Py_ssize_t i = 0; i < count; i++) a->objects[i] = NULL;
    return 0;
}

static void arrays_clear(Arrays *a)
{
    for (Py_ssize_t i = 0; i < a->count; i++) Py_XDECREF(a->objects[i]);
    if (a->objects != a->few_objects) {
        PyMem_Free(a->objects);
        PyMem_Free(a->addresses);
    }
}

static void set(PyObject **place, PyObject *value) /* takes over the reference to `value` */
{
    PyObject *before = *place;
    *place = value;
    Py_XDECREF(before);
}

/* Return whether machine code for `spec` can read an object where it is. */
static int fits(PyObject *object, const Spec *spec)
{
    if (object == NULL || !PyArray_CheckExact(object)) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    if (PyArray_NDIM(array) != spec->rank) return 0;
    if (!PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)) return 0;
    for (int i = 0; i < spec->rank; i++)
        if (PyArray_DIM(array, i) != spec->sizes[i]) return 0;
    return PyArray_DESCR(array) == spec->dtype || PyArray_EquivTypes(PyArray_DESCR(array), spec->dtype);
}

/* Kernel ------------------------------------------------------------------------------------------------------- */

typedef int (*Run)(void **addresses, PyThreadState **state);

typedef struct {
    Spec spec;
    Py_ssize_t donor;    /* the index, among inputs and results, of the array that a later call may reuse */
    int slots;           /* 0: none is kept; 1: for the next call; 2: for the call after that */
    PyObject *spares[2]; /* the kept arrays, or NULL */
} Result;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Run run;
    int is_long; /* runs without the GIL */
    Py_ssize_t inputs, results;
    Spec *input;
    Result *result;
    PyObject *mismatch, *failed, *owner;
} Kernel;

static PyTypeObject Kernel_Type, FastPath_Type, FastCall_Type;

enum Outcome { DONE, MISMATCH, FAILED, ERROR };

/* Return whether nothing but the kernel refers to an array, not even weakly. */
static int is_free(PyObject *array)
{
    PyObject **watched = (PyObject **)((char *)array + Py_TYPE(array)->tp_weaklistoffset);
    return Py_REFCNT(array) == 1 && *watched == NULL;
}

/* Return whether machine code can write the result into an array. */
static int takes(PyObject *array, const Result *result)
{
    return fits(array, &result->spec)
           && PyArray_CHKFLAGS((PyArrayObject *)array, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE);
}

/* Return the kept array if it is free, else a new one. A small array waits for one call, so that y = f(y) finds a
   free one. An array can get another shape, type or memory in place while it is kept. */
static PyObject *result_array(Result *result)
{
    if (result->slots) {
        PyObject **later = &result->spares[result->slots - 1], *kept = result->spares[0];
        result->spares[0] = *later;
        *later = NULL;
        if (kept != NULL && is_free(kept) && takes(kept, result)) return kept;
        Py_XDECREF(kept);
    }
    Py_INCREF(result->spec.dtype);
    return PyArray_NewFromDescr(&PyArray_Type, result->spec.dtype, result->spec.rank, result->spec.sizes,
                                NULL, NULL, 0, NULL);
}

static void keep_array(Result *result, PyObject *array)
{
    if (!result->slots || !takes(array, result)) return; /* a variable may have had another shape */
    set(&result->spares[result->slots - 1], Py_NewRef(array));
}

/* Run the kernel on the inputs in `a`, and put its results there. */
static enum Outcome kernel_run(Kernel *k, Arrays *a)
{
    PyObject **made = a->objects + k->inputs;
    for (Py_ssize_t i = 0; i < k->inputs; i++) {
        if (!fits(a->objects[i], &k->input[i])) return MISMATCH;
        a->addresses[i] = PyArray_DATA((PyArrayObject *)a->objects[i]);
    }
    for (Py_ssize_t i = 0; i < k->results; i++) {
        if ((made[i] = result_array(&k->result[i])) == NULL) return ERROR;
        a->addresses[k->inputs + i] = PyArray_DATA((PyArrayObject *)made[i]);
    }
    PyThreadState *state = k->is_long ? PyEval_SaveThread() : NULL;
    int code = k->run(a->addresses, &state); /* releases the GIL itself to look for signals */
    if (state != NULL) PyEval_RestoreThread(state);
    if (code != 0) return code == interrupted ? ERROR : FAILED;
    for (Py_ssize_t i = 0; i < k->results; i++) keep_array(&k->result[i], a->objects[k->result[i].donor]);
    return DONE;
}

static PyObject *kernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    Kernel *k = (Kernel *)self;
    if (PyVectorcall_NARGS(nargsf) != 1 || (names != NULL && PyTuple_GET_SIZE(names))) {
        PyErr_SetString(PyExc_TypeError, "a kernel takes one list of arrays");
        return NULL;
    }
    PyObject *given = args[0], *found = NULL;
    if (!PyList_CheckExact(given) || PyList_GET_SIZE(given) != k->inputs)
        return PyObject_CallOneArg(k->mismatch, given);
    Arrays a;
    if (arrays_init(&a, k->inputs + k->results) < 0) return NULL;
    for (Py_ssize_t i = 0; i < k->inputs; i++) a.objects[i] = Py_NewRef(PyList_GET_ITEM(given, i));
    enum Outcome outcome = kernel_run(k, &a);
    if (outcome == DONE && (found = PyTuple_New(k->results)) != NULL)
        for (Py_ssize_t i = 0; i < k->results; i++)
            PyTuple_SET_ITEM(found, i, Py_NewRef(a.objects[k->inputs + i]));
    arrays_clear(&a);
    if (outcome == MISMATCH) return PyObject_CallOneArg(k->mismatch, given);
    if (outcome == FAILED) return PyObject_CallOneArg(k->failed, given);
    return found;
}

static int spec_init(Spec *spec, PyObject *dtype, PyObject *sizes)
{
    if (!PyArray_DescrCheck(dtype) || !PyTuple_CheckExact(sizes) || PyTuple_GET_SIZE(sizes) > NPY_MAXDIMS) {
        PyErr_SetString(PyExc_TypeError, "an array is described by a dtype and a tuple of sizes");
        return -1;
    }
    spec->rank = (int)PyTuple_GET_SIZE(sizes);
    for (int i = 0; i < spec->rank; i++) {
        spec->sizes[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(sizes, i));
        if (spec->sizes[i] < 0) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a size is negative");
            return -1;
        }
    }
    spec->dtype = (PyArray_Descr *)Py_NewRef(dtype);
    return 0;
}

static int kernel_specs(Kernel *k, PyObject *inputs, PyObject *results)
{
    k->input = PyMem_Calloc(PyTuple_GET_SIZE(inputs) + 1, sizeof(Spec));
    k->result = PyMem_Calloc(PyTuple_GET_SIZE(results) + 1, sizeof(Result));
    if (k->input == NULL || k->result == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(inputs) + PyTuple_GET_SIZE(results);
    for (; k->inputs < PyTuple_GET_SIZE(inputs); k->inputs++) {
        PyObject *dtype, *sizes;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(inputs, k->inputs), "OO", &dtype, &sizes)) return -1;
        if (spec_init(&k->input[k->inputs], dtype, sizes) < 0) return -1;
    }
    for (; k->results < PyTuple_GET_SIZE(results); k->results++) {
        PyObject *dtype, *sizes;
        Result *result = &k->result[k->results];
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(results, k->results), "OOni", &dtype, &sizes, &result->donor,
                              &result->slots))
            return -1;
        if (result->donor < 0 || result->donor >= count || result->slots < 0 || result->slots > 2) {
            PyErr_SetString(PyExc_ValueError, "a result's donor or number of slots is out of range");
            return -1;
        }
        if (spec_init(&result->spec, dtype, sizes) < 0) return -1;
    }
    return 0;
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *address, *inputs, *results, *mismatch, *failed, *owner;
    int is_long;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "Kernel() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!pO!O!OOO", &PyLong_Type, &address, &is_long, &PyTuple_Type, &inputs,
                          &PyTuple_Type, &results, &mismatch, &failed, &owner))
        return NULL;
    void *run = PyLong_AsVoidPtr(address);
    if (run == NULL) {
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the address of a kernel is null");
        return NULL;
    }
    Kernel *k = (Kernel *)type->tp_alloc(type, 0);
    if (k == NULL) return NULL;
    k->vectorcall = kernel_call;
    k->run = (Run)run;
    k->is_long = is_long;
    k->mismatch = Py_NewRef(mismatch);
    k->failed = Py_NewRef(failed);
    k->owner = Py_NewRef(owner);
    if (kernel_specs(k, inputs, results) < 0) {
        Py_DECREF(k);
        return NULL;
    }
    return (PyObject *)k;
}

static int kernel_traverse(Kernel *k, visitproc visit, void *arg)
{
    Py_VISIT(k->mismatch);
    Py_VISIT(k->failed);
    Py_VISIT(k->owner);
    return 0;
}

static int kernel_clear(Kernel *k)
{
    Py_CLEAR(k->mismatch);
    Py_CLEAR(k->failed);
    Py_CLEAR(k->owner);
    return 0;
}

static void kernel_dealloc(Kernel *k)
{
    PyObject_GC_UnTrack(k);
    for (Py_ssize_t i = 0; i < k->inputs; i++) Py_DECREF(k->input[i].dtype);
    for (Py_ssize_t i = 0; i < k->results; i++) {
        Py_DECREF(k->result[i].spec.dtype);
        Py_XDECREF(k->result[i].spares[0]);
        Py_XDECREF(k->result[i].spares[1]);
    }
    PyMem_Free(k->input);
    PyMem_Free(k->result);
    kernel_clear(k);
    Py_TYPE(k)->tp_free(k);
}

static PyObject *kernel_owner(Kernel *k, void *unused)
{
    return Py_NewRef(k->owner);
}

static PyGetSetDef kernel_getset[] = {
    {"__self__", (getter)kernel_owner, NULL, "The object that keeps the machine code alive.", NULL},
    {NULL},
};

static PyTypeObject Kernel_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "agc.runtime.executors.llvm.call._native_call.Kernel",
    .tp_doc = "Machine code for arrays: `kernel([array, ...])` returns a tuple of arrays.",
    .tp_basicsize = sizeof(Kernel),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Kernel, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = kernel_new,
    .tp_traverse = (traverseproc)kernel_traverse,
    .tp_clear = (inquiry)kernel_clear,
    .tp_dealloc = (destructor)kernel_dealloc,
    .tp_getset = kernel_getset,
};

/* Patterns of arguments and results ------------------------------------------------------------------------------- */

enum Mode { TENSOR, ARRAY, OBJECT, ALIVE, TUPLE, LIST, DICT };

typedef struct Pattern {
    enum Mode mode;
    PyObject *thing;   /* the object, its weak reference, or the tuple of a dict's keys */
    Py_ssize_t number; /* for a tensor or an array: the index of the input or the result */
    Py_ssize_t count;
    struct Pattern *parts;
} Pattern;

static void pattern_clear(Pattern *p)
{
    for (Py_ssize_t i = 0; i < p->count; i++) pattern_clear(&p->parts[i]);
    PyMem_Free(p->parts);
    p->parts = NULL;
    p->count = 0;
    Py_CLEAR(p->thing);
}

static int pattern_traverse(Pattern *p, visitproc visit, void *arg)
{
    Py_VISIT(p->thing);
    for (Py_ssize_t i = 0; i < p->count; i++) {
        int code = pattern_traverse(&p->parts[i], visit, arg);
        if (code) return code;
    }
    return 0;
}

static int mode_of(PyObject *kind, PyObject *thing)
{
    if (kind == (PyObject *)Tensor) return TENSOR;
    if (kind == (PyObject *)&PyArray_Type) return ARRAY;
    if (kind == (PyObject *)&PyBaseObject_Type) return OBJECT;
    if (kind == (PyObject *)Py_TYPE(thing) && PyWeakref_CheckRefExact(thing)) return ALIVE;
    if (kind == (PyObject *)&PyTuple_Type) return TUPLE;
    if (kind == (PyObject *)&PyList_Type) return LIST;
    if (kind == (PyObject *)&PyDict_Type) return DICT;
    PyErr_Format(PyExc_TypeError, "a pattern has no kind %R", kind);
    return -1;
}

/* Read (kind, thing, number, parts). `limit` is the number of inputs or results. */
static int pattern_init(Pattern *p, PyObject *described, Py_ssize_t limit)
{
    PyObject *kind, *thing, *parts;
    if (!PyTuple_Check(described)) {
        PyErr_SetString(PyExc_TypeError, "a pattern is a tuple");
        return -1;
    }
    if (!PyArg_ParseTuple(described, "OOnO!", &kind, &thing, &p->number, &PyTuple_Type, &parts)) return -1;
    int mode = mode_of(kind, thing);
    if (mode < 0) return -1;
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    if (mode <= ARRAY ? p->number < 0 || p->number >= limit
                      : mode == DICT && (!PyTuple_CheckExact(thing) || PyTuple_GET_SIZE(thing) != count)) {
        PyErr_SetString(PyExc_ValueError, "the number or the keys of a pattern are out of range");
        return -1;
    }
    p->mode = mode;
    p->thing = Py_NewRef(thing);
    p->parts = PyMem_Calloc(count + 1, sizeof(Pattern));
    if (p->parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; p->count < count; p->count++)
        if (pattern_init(&p->parts[p->count], PyTuple_GET_ITEM(parts, p->count), limit) < 0) {
            p->count++; /* which holds what it has so far */
            return -1;
        }
    return 0;
}

static int is_target(PyObject *reference, PyObject *value)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *target = NULL;
    if (PyWeakref_GetRef(reference, &target) < 0) PyErr_Clear();
    int is_same = target == value; /* `value` is no NULL */
    Py_XDECREF(target);
    return is_same;
#else
    return PyWeakref_GET_OBJECT(reference) == value && value != Py_None;
#endif
}

/* Return whether an argument matches, and take its arrays. */
static int matches(const Pattern *p, PyObject *value, PyObject **arrays)
{
    PyObject *key, *part;
    Py_ssize_t place = 0;
    switch (p->mode) {
    case TENSOR:
        if (Py_TYPE(value) != Tensor) return 0;
        value = AT(value, array_offset);
        if (value == NULL) return 0;
        break;
    case ARRAY:
        if (!PyArray_CheckExact(value)) return 0;
        break;
    case OBJECT: return value == p->thing;
    case ALIVE: return is_target(p->thing, value);
    case TUPLE:
        if (!PyTuple_CheckExact(value) || PyTuple_GET_SIZE(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++)
            if (!matches(&p->parts[i], PyTuple_GET_ITEM(value, i), arrays)) return 0;
        return 1;
    case LIST:
        if (!PyList_CheckExact(value) || PyList_GET_SIZE(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++)
            if (!matches(&p->parts[i], PyList_GET_ITEM(value, i), arrays)) return 0;
        return 1;
    case DICT:
        if (!PyDict_CheckExact(value) || PyDict_Size(value) != p->count) return 0;
        for (Py_ssize_t i = 0; i < p->count; i++) {
            if (!PyDict_Next(value, &place, &key, &part) || key != PyTuple_GET_ITEM(p->thing, i)) return 0;
            if (!matches(&p->parts[i], part, arrays)) return 0;
        }
        return 1;
    }
    set(&arrays[p->number], Py_NewRef(value));
    return 1;
}

/* Build the structured result from the tensors of a call. */
static PyObject *built(const Pattern *p, PyObject **tensors)
{
    if (p->mode == TENSOR) return Py_NewRef(tensors[p->number]);
    if (p->mode == OBJECT) return Py_NewRef(p->thing);
    if (p->mode < TUPLE) {
        PyErr_SetString(PyExc_TypeError, "a result is made of tensors, objects and nests");
        return NULL;
    }
    PyObject *nest = p->mode == TUPLE ? PyTuple_New(p->count) : p->mode == LIST ? PyList_New(p->count) : PyDict_New();
    for (Py_ssize_t i = 0; nest != NULL && i < p->count; i++) {
        PyObject *part = built(&p->parts[i], tensors);
        if (part == NULL) {
            Py_CLEAR(nest);
        } else if (p->mode == TUPLE) {
            PyTuple_SET_ITEM(nest, i, part);
        } else if (p->mode == LIST) {
            PyList_SET_ITEM(nest, i, part);
        } else {
            if (PyDict_SetItem(nest, PyTuple_GET_ITEM(p->thing, i), part) < 0) Py_CLEAR(nest);
            Py_DECREF(part);
        }
    }
    return nest;
}

/* FastPath: one kind of calls ------------------------------------------------------------------------------------ */

typedef struct {
    PyObject_HEAD
    Kernel *kernel;
    PyObject *names;     /* a tuple of interned keyword names */
    PyObject *variables; /* a tuple of variables: the inputs after the arguments' arrays */
    PyObject *assigned;  /* a tuple: for each variable, the index of the result that becomes its value, or -1 */
    PyObject *kinds;     /* a tuple of the outputs' abstract values */
    PyObject *failed;    /* is called with the same arguments if a check in the kernel fails */
    Py_ssize_t count, tensors;
    Pattern *arguments;
    Pattern result;
} FastPath;

static int path_matches(FastPath *p, PyObject *const *args, Py_ssize_t count, PyObject *names, Arrays *a)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (!matches(&p->arguments[i], args[i], a->objects)) return 0;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyTuple_GET_ITEM(names, i) != PyTuple_GET_ITEM(p->names, i)) return 0;
    for (Py_ssize_t i = p->tensors; i < p->kernel->inputs; i++) {
        PyObject *variable = PyTuple_GET_ITEM(p->variables, i - p->tensors);
        if ((a->objects[i] = PyObject_GetAttr(variable, array_name)) == NULL) {
            PyErr_Clear();
            return 0;
        }
    }
    return 1;
}

/* Wrap the output arrays in tensors, build the result, and assign the variables last. */
static PyObject *path_result(FastPath *p, Arrays *a)
{
    PyObject **made = a->objects + p->kernel->inputs;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->kinds); i++) {
        made[i] = new_tensor(made[i], PyTuple_GET_ITEM(p->kinds, i));
        if (made[i] == NULL) return NULL;
    }
    PyObject *found = built(&p->result, made);
    for (Py_ssize_t i = 0; found != NULL && i < PyTuple_GET_SIZE(p->variables); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(p->assigned, i));
        if (number >= 0 && PyObject_SetAttr(PyTuple_GET_ITEM(p->variables, i), array_name, made[number]) < 0)
            Py_CLEAR(found);
    }
    return found;
}

/* Run a call if it matches. DONE: `result` is set; MISMATCH: nothing has happened. */
static enum Outcome path_call(FastPath *p, PyObject *const *args, size_t nargsf, PyObject *names, PyObject **result)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names), given = PyVectorcall_NARGS(nargsf);
    if (given + named != p->count || named != PyTuple_GET_SIZE(p->names)) return MISMATCH;
    Arrays a;
    if (arrays_init(&a, p->kernel->inputs + p->kernel->results) < 0) return ERROR;
    enum Outcome outcome = path_matches(p, args, p->count, names, &a) ? kernel_run(p->kernel, &a) : MISMATCH;
    if (outcome == DONE && (*result = path_result(p, &a)) == NULL) outcome = ERROR;
    arrays_clear(&a);
    if (outcome == FAILED) {
        *result = PyObject_Vectorcall(p->failed, args, given, names);
        outcome = *result == NULL ? ERROR : DONE;
    }
    return outcome;
}

static int path_init(FastPath *p, PyObject *arguments, PyObject *result)
{
    Py_ssize_t count = PyTuple_GET_SIZE(arguments), outputs = PyTuple_GET_SIZE(p->kinds);
    p->tensors = p->kernel->inputs - PyTuple_GET_SIZE(p->variables);
    if (p->tensors < 0 || outputs > p->kernel->results || PyTuple_GET_SIZE(p->names) > count
        || PyTuple_GET_SIZE(p->assigned) != PyTuple_GET_SIZE(p->variables)) {
        PyErr_SetString(PyExc_ValueError, "the kernel has other inputs or results");
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(p->assigned); i++) {
        Py_ssize_t number = PyLong_AsSsize_t(PyTuple_GET_ITEM(p->assigned, i));
        if (PyErr_Occurred()) return -1;
        if (number != -1 && (number < outputs || number >= p->kernel->results)) {
            PyErr_SetString(PyExc_ValueError, "a variable is assigned no result of its own");
            return -1;
        }
    }
    p->arguments = PyMem_Calloc(count + 1, sizeof(Pattern));
    if (p->arguments == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; p->count < count; p->count++)
        if (pattern_init(&p->arguments[p->count], PyTuple_GET_ITEM(arguments, p->count), p->tensors) < 0) {
            p->count++;
            return -1;
        }
    return pattern_init(&p->result, result, outputs);
}

static PyObject *path_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *kernel, *arguments, *names, *variables, *assigned, *kinds, *result, *failed;
    if (Tensor == NULL || (kwargs != NULL && PyDict_GET_SIZE(kwargs))) {
        PyErr_SetString(PyExc_TypeError, "FastPath() takes no keyword arguments, and needs a registered tensor class");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O!O!O!O!O!OO", &Kernel_Type, &kernel, &PyTuple_Type, &arguments, &PyTuple_Type,
                          &names, &PyTuple_Type, &variables, &PyTuple_Type, &assigned, &PyTuple_Type, &kinds, &result,
                          &failed))
        return NULL;
    FastPath *p = (FastPath *)type->tp_alloc(type, 0);
    if (p == NULL) return NULL;
    p->kernel = (Kernel *)Py_NewRef(kernel);
    p->names = Py_NewRef(names);
    p->variables = Py_NewRef(variables);
    p->assigned = Py_NewRef(assigned);
    p->kinds = Py_NewRef(kinds);
    p->failed = Py_NewRef(failed);
    if (path_init(p, arguments, result) < 0) {
        Py_DECREF(p);
        return NULL;
    }
    return (PyObject *)p;
}

static int path_traverse(FastPath *p, visitproc visit, void *arg)
{
    Py_VISIT(p->kernel);
    Py_VISIT(p->variables);
    Py_VISIT(p->kinds);
    Py_VISIT(p->failed);
    for (Py_ssize_t i = 0; i < p->count; i++) {
        int code = pattern_traverse(&p->arguments[i], visit, arg);
        if (code) return code;
    }
    return pattern_traverse(&p->result, visit, arg);
}

static void path_dealloc(FastPath *p)
{
    PyObject_GC_UnTrack(p);
    for (Py_ssize_t i = 0; i < p->count; i++) pattern_clear(&p->arguments[i]);
    PyMem_Free(p->arguments);
    pattern_clear(&p->result);
    Py_XDECREF(p->kernel);
    Py_XDECREF(p->names);
    Py_XDECREF(p->variables);
    Py_XDECREF(p->assigned);
    Py_XDECREF(p->kinds);
    Py_XDECREF(p->failed);
    Py_TYPE(p)->tp_free(p);
}

static PyTypeObject FastPath_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "agc.runtime.executors.llvm.call._native_call.FastPath",
    .tp_doc = "The patterns of one kind of calls, their kernel, and the structure of their result.",
    .tp_basicsize = sizeof(FastPath),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = path_new,
    .tp_traverse = (traverseproc)path_traverse,
    .tp_dealloc = (destructor)path_dealloc,
};

/* FastCall: what a function calls --------------------------------------------------------------------------------- */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *paths; /* a tuple of FastPaths, in the order in which they are tried */
    PyObject *fallback;
} FastCall;

static PyObject *fast_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names)
{
    FastCall *f = (FastCall *)self;
    if (PyList_GET_SIZE(busy) == 0)
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(f->paths); i++) {
            PyObject *result = NULL;
            enum Outcome outcome = path_call((FastPath *)PyTuple_GET_ITEM(f->paths, i), args, nargsf, names, &result);
            if (outcome != MISMATCH) return result;
        }
    return PyObject_Vectorcall(f->fallback, args, nargsf, names);
}

static PyObject *fast_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *paths, *fallback;
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs)) {
        PyErr_SetString(PyExc_TypeError, "FastCall() takes no keyword arguments");
        return NULL;
    }
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &paths, &fallback)) return NULL;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(paths); i++)
        if (!Py_IS_TYPE(PyTuple_GET_ITEM(paths, i), &FastPath_Type)) {
            PyErr_SetString(PyExc_TypeError, "FastCall() takes a tuple of FastPaths and a callable");
            return NULL;
        }
    FastCall *f = (FastCall *)type->tp_alloc(type, 0);
    if (f == NULL) return NULL;
    f->vectorcall = fast_call;
    f->paths = Py_NewRef(paths);
    f->fallback = Py_NewRef(fallback);
    return (PyObject *)f;
}

static int fast_traverse(FastCall *f, visitproc visit, void *arg)
{
    Py_VISIT(f->paths);
    Py_VISIT(f->fallback);
    return 0;
}

static void fast_dealloc(FastCall *f)
{
    PyObject_GC_UnTrack(f);
    Py_XDECREF(f->paths);
    Py_XDECREF(f->fallback);
    Py_TYPE(f)->tp_free(f);
}

static PyObject *fast_fallback(FastCall *f, void *unused)
{
    return Py_NewRef(f->fallback);
}

static PyGetSetDef fast_getset[] = {
    {"__wrapped__", (getter)fast_fallback, NULL, "The callable for other calls, whose signature this one has.", NULL},
    {NULL},
};

static PyTypeObject FastCall_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "agc.runtime.executors.llvm.call._native_call.FastCall",
    .tp_doc = "Run the graph for the arguments; trace it first if there is none yet.",
    .tp_basicsize = sizeof(FastCall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(FastCall, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = fast_new,
    .tp_traverse = (traverseproc)fast_traverse,
    .tp_dealloc = (destructor)fast_dealloc,
    .tp_getset = fast_getset,
};

/* Module --------------------------------------------------------------------------------------------------------- */

static PyObject *register_classes(PyObject *module, PyObject *args)
{
    PyObject *tensor, *list;
    int code;
    if (!PyArg_ParseTuple(args, "OO!i", &tensor, &PyList_Type, &list, &code)) return NULL;
    if (set_tensor_class(tensor) < 0) return NULL;
    interrupted = code;
    set(&busy, Py_NewRef(list));
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register", register_classes, METH_VARARGS,
     "register(tensor_class, busy, interrupted)\n--\n\nSet the class of tensors, the list of reasons why fast paths "
     "are disabled, and the code of an interrupted run."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_call", "Calls of native kernels without Python code in between.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_call(void)
{
    import_array();
    array_name = PyUnicode_InternFromString("_array");
    PyObject *module = array_name == NULL ? NULL : PyModule_Create(&definition);
    if (module == NULL) return NULL;
    if (PyModule_AddType(module, &Kernel_Type) < 0 || PyModule_AddType(module, &FastPath_Type) < 0
        || PyModule_AddType(module, &FastCall_Type) < 0) {
        Py_DECREF(module);
        return NULL;
    }
    return module;
}

/* Kernels: machine code for arrays.

   kernel([x, w])   →   x and w fit?   →   new or kept arrays for the results   →   run(addresses)   →   (y,) */

#include "../../../core/native_tensors.h"

#define FEW 24 /* arrays of a call that need no memory from the heap */

static int interrupted; /* the code of a run that has set an exception */

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

static PyTypeObject Kernel_Type;

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

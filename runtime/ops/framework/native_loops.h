/* Loops of NumPy's functions on whole arrays, without what a function of NumPy does before and after.

   x + y                loop of np.add on x, y and a new array       operands of one shape and dtype, or scalars of rank 0
   v.assign_sub(d)      loop of np.subtract on v, d and v itself     nothing else refers to the array of `v`
   v.assign(x)          no loop: the array of x                      it has the shape of the present one
       otherwise        the kernel of the operation

   An update holds the interpreter lock, so no thread reads the variable meanwhile. An array that is larger than the cache
   would get no faster. The threads of native_pool.h share large loops, which call no function of Python. */

#include "native_sweep.h"

#include <numpy/ufuncobject.h>

#define LARGE (1 << 17)           /* bytes of an array during whose loop other threads may run */
#define LARGEST_UPDATED (1 << 23) /* bytes */
#define WAKES (1 << 19)           /* bytes from which threads of the pool that sleep join a loop */
#define CHUNK 8192                /* elements of a loop that no threads share */

static PyObject *silent; /* a context with the settings of kernels; None if there is none */
static int is_entered;   /* whether a kernel runs in it, which may have let other threads run */
static PyObject *pool;   /* returns the address of `run_parts` in native_pool.h, or 0, and the number of threads */

typedef void (*Part)(void *around, int64_t begin, int64_t end);
typedef void (*RunParts)(Part part, void *around, int64_t rounds, int64_t threads, int64_t wakes);

typedef struct {
    PyUFuncGenericFunction function;
    void *data;
    int type; /* of the result */
    char *arguments[3];
    npy_intp steps[3], size;
    RunParts share; /* NULL for a loop of this thread alone */
    long threads;
    int wakes;
} Loop;

static int is_contiguous(PyArrayObject *x)
{
    return PyArray_IS_C_CONTIGUOUS(x) && PyArray_ISALIGNED(x) && PyArray_ISNOTSWAPPED(x);
}

/* Return a new array, with the memory of kernels if its size matters. */
static PyObject *new_array(int rank, npy_intp *sizes, int type)
{
    int enters = rank > 0 && !is_entered && silent != Py_None;
    if (enters && PyContext_Enter(silent) < 0) return NULL;
    PyObject *made = PyArray_SimpleNew(rank, sizes, type);
    if (enters && PyContext_Exit(silent) < 0) Py_CLEAR(made);
    return made;
}

/* Set the function of a loop for operands of one dtype; return whether there is one. */
static int find_loop(Loop *loop, PyUFuncObject *ufunc, int inputs, int type)
{
    if (ufunc->nin != inputs || ufunc->nout != 1 || !PyTypeNum_ISNUMBER(type)) return 0;
    for (int i = 0; i < ufunc->ntypes; i++) {
        const char *types = ufunc->types + (inputs + 1) * i;
        if (types[0] != type || types[inputs - 1] != type || ufunc->functions[i] == NULL) continue;
        loop->function = ufunc->functions[i];
        loop->data = ufunc->data == NULL ? NULL : (void *)ufunc->data[i];
        loop->type = types[inputs];
        return 1;
    }
    return 0;
}

/* Set the elements of an operand, or of the result. */
static void set_argument(Loop *loop, int number, PyArrayObject *x, int is_scalar)
{
    loop->arguments[number] = PyArray_DATA(x);
    loop->steps[number] = is_scalar ? 0 : PyArray_ITEMSIZE(x);
}

/* Let threads share a loop whose result is an array like this one, if it is large; -1 with an exception. */
static int share(Loop *loop, PyArrayObject *x)
{
    unsigned long long address;
    if (PyArray_NBYTES(x) < LARGE || pool == NULL) return 0;
    PyObject *found = PyObject_CallNoArgs(pool);
    int failed = found == NULL || !PyArg_ParseTuple(found, "Kl", &address, &loop->threads);
    if (!failed && loop->threads > 1) loop->share = (RunParts)(uintptr_t)address;
    loop->wakes = PyArray_NBYTES(x) >= WAKES;
    Py_XDECREF(found);
    return failed ? -1 : 0;
}

/* Run some chunks of a loop. */
static void run_chunks(void *around, int64_t begin, int64_t end)
{
    const Loop *loop = around;
    npy_intp first = begin * CHUNK, size = (end * CHUNK < loop->size ? end * CHUNK : loop->size) - first;
    char *arguments[3];
    for (int i = 0; i < 3; i++) arguments[i] = loop->arguments[i] + first * loop->steps[i];
    loop->function(arguments, &size, loop->steps, loop->data);
}

static void run_loop(Loop *loop)
{
    int64_t chunks = (loop->size + CHUNK - 1) / CHUNK;
    if (loop->share == NULL) run_chunks(loop, 0, chunks);
    else loop->share(run_chunks, loop, chunks, loop->threads, loop->wakes);
}

/* Return the array that a function of NumPy makes of one or two tensors of one dtype; NULL without an exception if its
   loop does not take them as they are. */
static PyObject *looped(PyObject *ufunc, PyObject *const *x, int inputs)
{
    PyArrayObject *arrays[2], *whole = NULL;
    Loop loop = {0};
    for (int i = 0; i < inputs; i++) {
        arrays[i] = (PyArrayObject *)AT(x[i], array_offset);
        if (!is_contiguous(arrays[i])) return NULL;
        if (PyArray_NDIM(arrays[i]) == 0 && (whole != NULL || i + 1 < inputs)) continue;
        if (whole != NULL && !PyArray_SAMESHAPE(whole, arrays[i])) return NULL;
        if (whole == NULL) whole = arrays[i];
    }
    if (!find_loop(&loop, (PyUFuncObject *)ufunc, inputs, PyArray_TYPE(whole)) || share(&loop, whole) < 0) return NULL;
    PyObject *made = new_array(PyArray_NDIM(whole), PyArray_DIMS(whole), loop.type);
    if (made == NULL) return NULL;
    for (int i = 0; i < inputs; i++) set_argument(&loop, i, arrays[i], PyArray_NDIM(arrays[i]) == 0);
    set_argument(&loop, inputs, (PyArrayObject *)made, 0);
    loop.size = PyArray_SIZE(whole);
    PyThreadState *state = PyArray_NBYTES((PyArrayObject *)made) < LARGE ? NULL : PyEval_SaveThread();
    run_loop(&loop);
    if (state != NULL) PyEval_RestoreThread(state);
    return made;
}

/* Return whether nothing else uses the array of a variable. */
static int is_own(PyArrayObject *array)
{
    return Py_REFCNT(array) == 1 && PyArray_BASE(array) == NULL && PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)
        && PyArray_ISWRITEABLE(array) && is_contiguous(array);
}

/* Set a variable to a tensor of its shape and dtype, or to ufunc(variable, tensor) in its own memory. Return whether that
   was possible; -1 with an exception. No code of Python runs between the look at the variable and its update. */
static int is_updated(PyObject *variable, PyObject *ufunc, PyObject *x)
{
    PyArrayObject *given = (PyArrayObject *)AT(x, array_offset), *y = NULL;
    Loop loop = {.size = PyArray_SIZE(given)};
    if (ufunc != NULL && share(&loop, given) < 0) return -1;
    PyObject *state = PyObject_GenericGetDict(variable, NULL);
    if (state != NULL) y = (PyArrayObject *)PyDict_GetItemWithError(state, name_array);
    int found = y != NULL && PyArray_CheckExact(y) && PyArray_DESCR(y) == PyArray_DESCR(given)
        && PyArray_SAMESHAPE(y, given);
    if (found && ufunc == NULL) found = PyDict_SetItem(state, name_array, (PyObject *)given) < 0 ? -1 : 1;
    else if (found) {
        found = is_contiguous(given) && is_own(y) && PyArray_TYPE(y) != NPY_BOOL && PyArray_NBYTES(y) <= LARGEST_UPDATED
            && find_loop(&loop, (PyUFuncObject *)ufunc, 2, PyArray_TYPE(y));
        set_argument(&loop, 0, y, 0);
        set_argument(&loop, 1, given, 0);
        set_argument(&loop, 2, y, 0);
        if (found) run_loop(&loop);
    }
    Py_XDECREF(state);
    return PyErr_Occurred() ? -1 : found;
}

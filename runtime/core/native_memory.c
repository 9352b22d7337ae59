/* Memory for the elements of new arrays that begins at a cache line: an optional extension module.

   block of NumPy's allocator   │ …  │ block, size │ elements …  │
                                                   ↑ a multiple of 64

   NumPy's blocks begin at any multiple of 16. Then half of the vectors that an instruction reads or writes are on two
   cache lines, and a sum of arrays in the cache takes twice as long. Only kernels get such memory: fp_errors.py. */

#include "numpy_2.h"

#include <stdint.h>
#include <string.h>

#define LINE 64
#define SHORT 512 /* bytes of arrays that keep the alignment of NumPy's blocks */

typedef struct {
    char *block;
    size_t size; /* of the elements */
} Prefix;

static const PyDataMemAllocator *numpy;

/* Return the size of a block for elements; 0 if there is none. */
static size_t block_size(size_t size)
{
    size_t added = sizeof(Prefix) + (size < SHORT ? 0 : LINE);
    return size > SIZE_MAX - added ? 0 : size + added;
}

/* Return the place of elements in a block, which is described before them. */
static void *place_in(char *block, size_t size)
{
    if (block == NULL) return NULL;
    uintptr_t start = (uintptr_t)block + sizeof(Prefix);
    if (size >= SHORT) start = (start + LINE - 1) & ~(uintptr_t)(LINE - 1);
    ((Prefix *)start)[-1] = (Prefix){block, size};
    return (void *)start;
}

static void *new_elements(void *context, size_t size)
{
    size_t whole = block_size(size);
    return whole == 0 ? NULL : place_in(numpy->malloc(numpy->ctx, whole), size);
}

static void *new_zeros(void *context, size_t count, size_t size)
{
    size_t total = size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size, whole = block_size(total);
    return whole == 0 ? NULL : place_in(numpy->calloc(numpy->ctx, 1, whole), total);
}

static void free_elements(void *context, void *elements, size_t size)
{
    if (elements == NULL) return;
    Prefix prefix = ((Prefix *)elements)[-1];
    numpy->free(numpy->ctx, prefix.block, block_size(prefix.size));
}

static void *resized_elements(void *context, void *elements, size_t size)
{
    void *made = new_elements(context, size);
    if (made == NULL || elements == NULL) return made;
    size_t before = ((Prefix *)elements)[-1].size;
    memcpy(made, elements, before < size ? before : size);
    free_elements(context, elements, before);
    return made;
}

static PyDataMem_Handler aligned = {
    "agc_aligned", 1, {NULL, new_elements, new_zeros, resized_elements, free_elements},
};

/* Let NumPy use this memory in the present context. */
static PyObject *align_new_arrays(PyObject *module, PyObject *nothing)
{
    PyDataMem_Handler *known = PyCapsule_GetPointer(PyDataMem_DefaultHandler, "mem_handler");
    PyObject *capsule = known == NULL ? NULL : PyCapsule_New(&aligned, "mem_handler", NULL), *before = NULL;
    if (capsule != NULL) {
        numpy = &known->allocator;
        before = PyDataMem_SetHandler(capsule);
        Py_DECREF(capsule);
    }
    if (before == NULL) return NULL;
    Py_DECREF(before);
    Py_RETURN_NONE;
}

/* Reset the first `count` variables of settings, given the tokens that follow them; return -1 with an exception. */
static int reset(PyObject *before, Py_ssize_t count)
{
    PyObject *settings = PyTuple_GET_ITEM(before, 0);
    int failed = 0;
    while (count-- > 0)
        failed |= PyContextVar_Reset(PyTuple_GET_ITEM(PyTuple_GET_ITEM(settings, count), 0),
                                     PyTuple_GET_ITEM(before, count + 1));
    return failed;
}

/* Set context variables, given as pairs with their values. Return what `end` takes. */
static PyObject *begin(PyObject *module, PyObject *settings)
{
    if (!PyTuple_CheckExact(settings)) return PyErr_Format(PyExc_TypeError, "begin(settings)");
    Py_ssize_t count = PyTuple_GET_SIZE(settings), i = 0;
    PyObject *before = PyTuple_New(count + 1);
    if (before == NULL) return NULL;
    PyTuple_SET_ITEM(before, 0, Py_NewRef(settings));
    for (; i < count; i++) {
        PyObject *variable, *value, *token = NULL;
        if (PyArg_ParseTuple(PyTuple_GET_ITEM(settings, i), "OO", &variable, &value))
            token = PyContextVar_Set(variable, value);
        if (token == NULL) break;
        PyTuple_SET_ITEM(before, i + 1, token);
    }
    if (i < count) {
        PyObject *kind, *error, *trace;
        PyErr_Fetch(&kind, &error, &trace);
        reset(before, i);
        Py_CLEAR(before);
        PyErr_Restore(kind, error, trace);
    }
    return before;
}

static PyObject *end(PyObject *module, PyObject *before)
{
    if (!PyTuple_CheckExact(before) || PyTuple_GET_SIZE(before) == 0 || !PyTuple_CheckExact(PyTuple_GET_ITEM(before, 0))
        || PyTuple_GET_SIZE(PyTuple_GET_ITEM(before, 0)) != PyTuple_GET_SIZE(before) - 1)
        return PyErr_Format(PyExc_TypeError, "end(what begin returned)");
    if (reset(before, PyTuple_GET_SIZE(before) - 1) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"align_new_arrays", align_new_arrays, METH_NOARGS,
     "align_new_arrays()\n--\n\nLet new arrays begin at a cache line, in the present context."},
    {"begin", begin, METH_O, "begin(settings)\n--\n\nSet context variables, given as pairs with their values."},
    {"end", end, METH_O, "end(before)\n--\n\nReset the variables that `begin` set, given what it returned."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_memory", "Memory for arrays that begins at a cache line.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_memory(void)
{
    import_array();
    return PyModule_Create(&definition);
}

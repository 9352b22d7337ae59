/* Calls of native kernels without Python code in between: an optional extension module.

   f(x, n=3)   →   FastCall: the first FastPath that matches the arguments   →   Kernel   →   tensors
                   no match: `fallback`, in Python

   Only public functions of CPython and NumPy are used. */

#include "native_patterns.h"

static PyTypeObject FastPath_Type, FastCall_Type;
static PyObject *busy;       /* the list of reasons why fast paths are disabled */
static PyObject *array_name; /* "_array" */

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

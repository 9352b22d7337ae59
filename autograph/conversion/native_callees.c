/* The operators `converted` and `receiver`, quick while nothing is staged; plain_callees.py has the same in Python.

       quick, receiver = operators(converted, vars(operators), permanent, codes, stand_ins)

   quick(f) returns f for code in C, for classes, and for functions that need no conversion; the result of a conversion
   while the function is unchanged; and converted(f) for all else, and while a graph is built. An instance has the
   result of its `__call__`. receiver(x, "m") returns x if its methods are in C, else an object whose `m` is quick(x.m):
   `receiver(x, "m").m(y)` thus makes no bound method of a list.

   `within`, the operator for assignments to items of attributes, is here too; see operators/item_assignment.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { CONVERTED, OPERATORS, PERMANENT, CODES, STAND_INS, COUNT };
#define PART(state, index) PyTuple_GET_ITEM(state, index)

static PyObject *building, *call_name, *func; /* interned names of attributes */
static PyObject *partial;                     /* functools.partial */

/* Return a new reference, or NULL with or without an error. */
static PyObject *known(PyObject *state, PyObject *f)
{
    PyObject *code = PyFunction_GET_CODE(f);
    PyObject *entry = PyDict_GetItemWithError(PART(state, PERMANENT), f);
    if (entry != NULL && PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) == 5) {
        PyObject *defaults = PyFunction_GET_DEFAULTS(f), *keywords = PyFunction_GET_KW_DEFAULTS(f);
        if (PyTuple_GET_ITEM(entry, 1) == code
            && PyTuple_GET_ITEM(entry, 2) == (defaults ? defaults : Py_None)
            && PyTuple_GET_ITEM(entry, 3) == (keywords ? keywords : Py_None))
            return Py_NewRef(PyTuple_GET_ITEM(entry, 4));
    }
    if (PyErr_Occurred())
        return NULL;
    PyObject *key = PyLong_FromVoidPtr(code);
    if (key == NULL)
        return NULL;
    entry = PyDict_GetItemWithError(PART(state, CODES), key);
    Py_DECREF(key);
    return entry == NULL ? NULL : Py_NewRef(f);
}

/* Return the same for a bound method. */
static PyObject *known_method(PyObject *state, PyObject *method)
{
    PyObject *function = PyMethod_GET_FUNCTION(method);
    if (!PyFunction_Check(function))
        return NULL;
    PyObject *result = known(state, function);
    if (result == NULL)
        return NULL;
    PyObject *bound = result == function ? Py_NewRef(method) : PyMethod_New(result, PyMethod_GET_SELF(method));
    Py_DECREF(result);
    return bound;
}

static PyObject *known_builtin(PyObject *state, PyObject *f)
{
    PyObject *self = PyCFunction_GET_SELF(f);
    if (self != NULL && !PyModule_Check(self))
        return Py_NewRef(f);
    PyObject *stand_in = PyDict_GetItemWithError(PART(state, STAND_INS), f);
    if (stand_in == NULL && PyErr_Occurred())
        return NULL;
    return Py_NewRef(stand_in == NULL ? f : stand_in);
}

static PyObject *quick(PyObject *state, PyObject *f);

/* A partial of a function that stays as it is. */
static PyObject *known_partial(PyObject *state, PyObject *f)
{
    PyObject *function = PyObject_GetAttr(f, func), *result = function ? quick(state, function) : NULL;
    int is_same = result == function;
    Py_XDECREF(function);
    Py_XDECREF(result);
    return result != NULL && is_same ? Py_NewRef(f) : NULL;
}

/* An object of any other type, which is called through the `__call__` of its class. */
static PyObject *known_instance(PyObject *state, PyObject *f)
{
    PyObject *call = _PyType_Lookup(Py_TYPE(f), call_name), *result, *bound;
    if (call == NULL || !PyFunction_Check(call))
        return Py_NewRef(f);
    Py_INCREF(call);
    result = known(state, call);
    bound = result == NULL ? NULL : result == call ? Py_NewRef(f) : PyMethod_New(result, f);
    Py_XDECREF(result);
    Py_DECREF(call);
    return bound;
}

/* Whether a graph is built: 0 or 1, or -1 with an error. */
static int is_building(PyObject *state)
{
    PyObject *count = PyDict_GetItemWithError(PART(state, OPERATORS), building);
    return count != NULL ? PyObject_IsTrue(count) : PyErr_Occurred() ? -1 : 1;
}

static PyObject *quick(PyObject *state, PyObject *f)
{
    PyObject *result = NULL;
    if (is_building(state) == 0) {
        if (PyFunction_Check(f))
            result = known(state, f);
        else if (PyMethod_Check(f))
            result = known_method(state, f);
        else if (PyCFunction_CheckExact(f))
            result = known_builtin(state, f);
        else if (Py_IS_TYPE(f, &PyType_Type))
            result = Py_NewRef(f);
        else
            result = Py_IS_TYPE(f, (PyTypeObject *)partial) ? known_partial(state, f) : known_instance(state, f);
    }
    if (result != NULL || PyErr_Occurred())
        return result;
    return PyObject_CallOneArg(PART(state, CONVERTED), f);
}

typedef struct {
    PyObject_HEAD
    PyObject *method;
} Receiver;

static PyObject *receiver_getattr(PyObject *self, PyObject *name)
{
    return Py_NewRef(((Receiver *)self)->method);
}

static PyObject *spare; /* the memory of a receiver that is gone, for the next one */

static void receiver_dealloc(PyObject *self)
{
    Py_DECREF(((Receiver *)self)->method);
    if (spare == NULL)
        spare = self;
    else
        PyObject_Free(self);
}

static PyTypeObject Receiver_Type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "agc.autograph.conversion.Receiver",
    .tp_doc = "An object whose one method is converted.",
    .tp_basicsize = sizeof(Receiver),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_dealloc = receiver_dealloc,
    .tp_getattro = receiver_getattr,
};

/* Return a receiver whose method is this one; take its reference. */
static PyObject *made_receiver(PyObject *method)
{
    PyObject *made = spare;
    spare = NULL;
    made = made == NULL ? (PyObject *)PyObject_New(Receiver, &Receiver_Type) : PyObject_Init(made, &Receiver_Type);
    if (made == NULL)
        Py_DECREF(method);
    else
        ((Receiver *)made)->method = method;
    return made;
}

/* Find the method `name` of an object: 1 and a function without `self`, or 0 and what the attribute is, or NULL. */
static int find_method(PyObject *state, PyObject *object, PyObject *name, PyObject **method)
{
#if PY_VERSION_HEX < 0x030D0000
    if (is_building(state) == 0)
        return _PyObject_GetMethod(object, name, method);
#endif
    *method = PyErr_Occurred() ? NULL : PyObject_GetAttr(object, name);
    return 0;
}

/* Return the callee of `object.name(…)`, or NULL; `*is_own` is whether the object's own attribute is the callee. */
static PyObject *method_of(PyObject *state, PyObject *object, PyObject *name, int *is_own)
{
    PyObject *method = NULL, *result;
    int is_unbound = find_method(state, object, name, &method);
    if (method == NULL)
        return NULL;
    if (is_unbound && !PyFunction_Check(method)) {
        *is_own = 1;
        return method;
    }
    result = quick(state, method);
    *is_own = is_unbound && result == method;
    Py_DECREF(method);
    if (is_unbound && result != NULL && !*is_own)
        Py_SETREF(result, PyMethod_New(result, object));
    return result;
}

static PyObject *receiver(PyObject *state, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "receiver takes an object and the name of a method");
        return NULL;
    }
    PyTypeObject *type = Py_TYPE(arguments[0]);
    int is_own = type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE && type->tp_dictoffset == 0
                 && type->tp_getattro == PyObject_GenericGetAttr;
    PyObject *method = is_own ? NULL : method_of(state, arguments[0], arguments[1], &is_own);
    if (is_own) {
        Py_XDECREF(method);
        return Py_NewRef(arguments[0]);
    }
    return method == NULL ? NULL : made_receiver(method);
}

/* Return the list or dict in the attribute `arguments[1]` of `arguments[0]`; of another value, `other(value, …)`. */
static PyObject *within(PyObject *other, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 2) {
        PyErr_SetString(PyExc_TypeError, "within takes an object and the name of an attribute");
        return NULL;
    }
    PyObject *value = PyObject_GetAttr(arguments[0], arguments[1]);
    if (value == NULL || (count == 2 && (PyList_CheckExact(value) || PyDict_CheckExact(value))))
        return value;
    PyObject *all = PyTuple_New(count + 1), *result = NULL;
    if (all != NULL) {
        PyTuple_SET_ITEM(all, 0, Py_NewRef(value));
        for (Py_ssize_t i = 0; i < count; i++)
            PyTuple_SET_ITEM(all, i + 1, Py_NewRef(arguments[i]));
        result = PyObject_CallObject(other, all);
        Py_DECREF(all);
    }
    Py_DECREF(value);
    return result;
}

static PyMethodDef within_method = {
    "within", (PyCFunction)(void (*)(void))within, METH_FASTCALL,
    "Return what an attribute holds, an item of which will be assigned."
};

/* Return the operator `within`, which calls `other` for all values but lists and dicts. */
static PyObject *make_within(PyObject *module, PyObject *other)
{
    return PyCFunction_New(&within_method, other);
}

static PyMethodDef quick_method = {
    "converted", quick, METH_O, "Return the callable that code calls in place of `f`."
};
static PyMethodDef receiver_method = {
    "receiver", (PyCFunction)(void (*)(void))receiver, METH_FASTCALL,
    "Return an object whose method of this name is the one that code calls."
};

static PyObject *operators(PyObject *module, PyObject *arguments)
{
    PyObject *parts[COUNT];
    if (!PyArg_ParseTuple(arguments, "OO!O!O!O!:operators", &parts[CONVERTED], &PyDict_Type, &parts[OPERATORS],
                          &PyDict_Type, &parts[PERMANENT], &PyDict_Type, &parts[CODES], &PyDict_Type,
                          &parts[STAND_INS]))
        return NULL;
    return Py_BuildValue("NN", PyCFunction_New(&quick_method, arguments),
                         PyCFunction_New(&receiver_method, arguments));
}

static PyMethodDef methods[] = {
    {"operators", operators, METH_VARARGS, "Return the operators of a converter."},
    {"within", make_within, METH_O, "Return an operator that is quick for lists and dicts."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_callees", "Callees of code that runs while nothing is staged.", 0, methods,
};

PyMODINIT_FUNC PyInit__native_callees(void)
{
    PyObject *functools = PyImport_ImportModule("functools");
    partial = functools == NULL ? NULL : PyObject_GetAttrString(functools, "partial");
    Py_XDECREF(functools);
    building = PyUnicode_InternFromString("building");
    call_name = PyUnicode_InternFromString("__call__");
    func = PyUnicode_InternFromString("func");
    if (!partial || !building || !call_name || !func || PyType_Ready(&Receiver_Type) < 0)
        return NULL;
    return PyModule_Create(&definition);
}

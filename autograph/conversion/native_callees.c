/* The operator `converted`, quick while nothing is staged; plain_callees.py has the same in Python.

       quick = operator(converted, vars(operators), permanent, codes, stand_ins)

   quick(f) returns f for built-in functions and methods, for classes, and for functions that need no conversion; the
   result of a conversion while the function is unchanged; and converted(f) for all else, and while a graph is built. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

enum { CONVERTED, OPERATORS, PERMANENT, CODES, STAND_INS, COUNT };
#define PART(state, index) PyTuple_GET_ITEM(state, index)

static PyObject *building; /* the interned name of the attribute of the operators */

/* Return a new reference, or NULL with or without an error. */
static PyObject *known(PyObject *state, PyObject *f)
{
    PyObject *code = PyFunction_GET_CODE(f);
    PyObject *entry = PyDict_GetItemWithError(PART(state, PERMANENT), f);
    if (entry != NULL && PyTuple_CheckExact(entry) && PyTuple_GET_SIZE(entry) == 4) {
        PyObject *defaults = PyFunction_GET_DEFAULTS(f), *keywords = PyFunction_GET_KW_DEFAULTS(f);
        if (PyTuple_GET_ITEM(entry, 1) == code
            && PyTuple_GET_ITEM(entry, 2) == (defaults ? defaults : Py_None)
            && PyTuple_GET_ITEM(entry, 3) == (keywords ? keywords : Py_None))
            return Py_NewRef(PyTuple_GET_ITEM(entry, 0));
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

static PyObject *quick(PyObject *state, PyObject *f)
{
    PyObject *count = PyDict_GetItemWithError(PART(state, OPERATORS), building), *result = NULL;
    int is_building = count == NULL ? 1 : PyObject_IsTrue(count);
    if (is_building == 0) {
        if (PyFunction_Check(f))
            result = known(state, f);
        else if (PyMethod_Check(f))
            result = known_method(state, f);
        else if (PyCFunction_CheckExact(f))
            result = known_builtin(state, f);
        else if (Py_IS_TYPE(f, &PyType_Type))
            result = Py_NewRef(f);
    }
    if (result != NULL || PyErr_Occurred())
        return result;
    return PyObject_CallOneArg(PART(state, CONVERTED), f);
}

static PyMethodDef quick_method = {
    "converted", quick, METH_O, "Return the callable that code calls in place of `f`."
};

static PyObject *operator(PyObject *module, PyObject *arguments)
{
    PyObject *parts[COUNT];
    if (!PyArg_ParseTuple(arguments, "OO!O!O!O!:operator", &parts[CONVERTED], &PyDict_Type, &parts[OPERATORS],
                          &PyDict_Type, &parts[PERMANENT], &PyDict_Type, &parts[CODES], &PyDict_Type,
                          &parts[STAND_INS]))
        return NULL;
    return PyCFunction_New(&quick_method, arguments);
}

static PyMethodDef methods[] = {
    {"operator", operator, METH_VARARGS, "Return the operator of a converter."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_callees", "Callees of code that runs while nothing is staged.", 0, methods,
};

PyMODINIT_FUNC PyInit__native_callees(void)
{
    building = PyUnicode_InternFromString("building");
    return building == NULL ? NULL : PyModule_Create(&definition);
}

/* Sites: the instruction of user code that a record comes from.

   ir/source_location.py has the same in Python. */

#define SITE_BITS 8 /* of the number of sites that are kept */

static PyObject *own_files; /* set by `register` when tapes are imported */

/* Return whether code belongs to this library; -1 with an exception. */
static int is_own_code(PyCodeObject *code)
{
    PyObject *own = Py_XNewRef(PyDict_GetItemWithError(own_files, code->co_filename));
    if (own == NULL && !PyErr_Occurred()) own = PyObject_GetItem(own_files, code->co_filename);
    Py_XDECREF(own);
    return own == NULL ? -1 : own != Py_None;
}

/* Return the code object and the instruction of a frame, which are most often those of one before; NULL without an
   exception for a frame of this library. */
static PyObject *site_in(PyFrameObject *frame)
{
    static PyObject *sites[1 << SITE_BITS];
    PyCodeObject *code = PyFrame_GetCode(frame);
    int at = PyFrame_GetLasti(frame), is_own = 0;
    PyObject **found = sites + ((((uintptr_t)code >> 4) + (uintptr_t)at * 0x9E3779B1u) & ((1 << SITE_BITS) - 1));
    int is_known = *found != NULL && PyTuple_GET_ITEM(*found, 0) == (PyObject *)code
        && PyLong_AsLong(PyTuple_GET_ITEM(*found, 1)) == at;
    if (!is_known && (is_own = is_own_code(code)) == 0) {
        PyObject *made = Py_BuildValue("(Oi)", code, at);
        if (made != NULL) Py_XSETREF(*found, made);
        is_known = made != NULL;
    }
    Py_DECREF(code);
    return is_known ? Py_NewRef(*found) : NULL;
}

/* Return the site of the innermost frame of user code; None if there is none. */
static PyObject *site(void)
{
    PyObject *found = NULL;
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get()), *back;
    for (; frame != NULL && found == NULL && !PyErr_Occurred(); Py_DECREF(frame), frame = back) {
        found = site_in(frame);
        back = found == NULL ? PyFrame_GetBack(frame) : NULL;
    }
    Py_XDECREF(frame);
    return found != NULL || PyErr_Occurred() ? found : Py_NewRef(Py_None);
}

/* Keys of `tensor[key]` as indices of NumPy: integers, slices, `...` and None. Scalar tensors count by value.

   x[n, 1:]      n: a tensor of 3      →   (3, slice(1, None, None))   →   a view of the array

   getitem.py handles all other keys, and all errors. */

/* Return an integer as one of Python, or None for None; NULL without an exception for other values. */
static PyObject *plain_integer(PyObject *x, int takes_none)
{
    PyObject *found = NULL;
    if (PyLong_CheckExact(x) || (takes_none && x == Py_None)) found = Py_NewRef(x);
    else if (PyArray_IsScalar(x, Integer)) found = PyNumber_Index(x);
    else if (Py_IS_TYPE(x, Tensor) && PyArray_CheckExact(AT(x, array_offset))) {
        PyArrayObject *array = (PyArrayObject *)AT(x, array_offset);
        if (PyArray_NDIM(array) == 0 && PyArray_ISINTEGER(array)) found = PyArray_GETITEM(array, PyArray_BYTES(array));
    }
    if (found != NULL && found != Py_None && PyLong_AsSsize_t(found) == -1 && PyErr_Occurred()) Py_CLEAR(found);
    PyErr_Clear();
    return found;
}

static PyObject *plain_slice(PyObject *x)
{
    PySliceObject *given = (PySliceObject *)x;
    PyObject *start = plain_integer(given->start, 1), *stop = plain_integer(given->stop, 1);
    PyObject *step = plain_integer(given->step, 1);
    PyObject *found = start == NULL || stop == NULL || step == NULL ? NULL : PySlice_New(start, stop, step);
    Py_XDECREF(start);
    Py_XDECREF(stop);
    Py_XDECREF(step);
    return found;
}

static PyObject *plain_item(PyObject *x)
{
    if (x == Py_None || x == Py_Ellipsis) return Py_NewRef(x);
    return PySlice_Check(x) ? plain_slice(x) : plain_integer(x, 0);
}

/* Return a key as an index; NULL if it has other parts. */
static PyObject *plain_index(PyObject *key)
{
    if (!PyTuple_CheckExact(key)) return plain_item(key);
    PyObject *index = PyTuple_New(PyTuple_GET_SIZE(key));
    for (Py_ssize_t i = 0; index != NULL && i < PyTuple_GET_SIZE(key); i++) {
        PyObject *item = plain_item(PyTuple_GET_ITEM(key, i));
        if (item == NULL) Py_CLEAR(index);
        else PyTuple_SET_ITEM(index, i, item);
    }
    PyErr_Clear();
    return index;
}

/* Return the part of a tensor of numbers at an index; NULL without an exception if it must be checked. */
static PyObject *indexed(PyObject *x, PyObject *index)
{
    PyObject *array = AT(x, array_offset);
    if (array == NULL || !PyArray_CheckExact(array) || !PyTypeNum_ISNUMBER(PyArray_TYPE((PyArrayObject *)array)))
        return NULL;
    PyObject *found = PyObject_GetItem(array, index);
    if (found != NULL && !PyArray_CheckExact(found)) Py_SETREF(found, PyArray_FromScalar(found, NULL));
    if (found == NULL) PyErr_Clear();
    return new_tensor(found, Py_None);
}

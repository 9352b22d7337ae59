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

/* Tapes -----------------------------------------------------------------------------------------------------------

   x[i, :, j]      op(x, i, j), attributes of the pattern (hole, :, hole)      one gradient for all values of i and j */

#define MOST_ITEMS 8 /* of a key */

static PyObject *item_op, *item_attributes, *patterns; /* set by `register`: the function for a pattern, and its results */

static int is_full_slice(PyObject *x)
{
    PySliceObject *given = (PySliceObject *)x;
    return PySlice_Check(x) && given->start == Py_None && given->stop == Py_None && given->step == Py_None;
}

/* Append an integer of a key to the inputs as a tensor; return whether it has the usual size. */
static int put_position(PyObject *inputs, Py_ssize_t at, PyObject *x)
{
    PyObject *array = is_usual_number(x) ? PyArray_SimpleNew(0, NULL, NPY_INT32) : NULL;
    if (array == NULL) return 0;
    *(int32_t *)PyArray_DATA((PyArrayObject *)array) = (int32_t)PyLong_AsLong(x);
    PyObject *tensor = new_tensor(array, Py_None);
    if (tensor != NULL) PyTuple_SET_ITEM(inputs, at, tensor);
    return tensor != NULL;
}

/* Return the inputs of the operation for an index of integers, full slices, `...` and None, and set its pattern, which
   has NotImplemented for each integer; NULL for other indices. */
static PyObject *item_inputs(PyObject *x, PyObject *index, PyObject **pattern)
{
    PyObject *one[] = {index}, **items = PyTuple_CheckExact(index) ? ((PyTupleObject *)index)->ob_item : one;
    Py_ssize_t count = PyTuple_CheckExact(index) ? PyTuple_GET_SIZE(index) : 1, numbers = 0, at = 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        numbers += PyLong_CheckExact(items[i]);
        if (PySlice_Check(items[i]) && !is_full_slice(items[i])) return NULL;
    }
    if (numbers == 0 || count > MOST_ITEMS) return NULL;
    PyObject *inputs = PyTuple_New(numbers + 1);
    if (inputs == NULL || (*pattern = PyTuple_New(count)) == NULL) {
        Py_XDECREF(inputs);
        return NULL;
    }
    PyTuple_SET_ITEM(inputs, 0, Py_NewRef(x));
    for (Py_ssize_t i = 0; inputs != NULL && i < count; i++) {
        int is_number = PyLong_CheckExact(items[i]);
        PyObject *part = is_number ? Py_NotImplemented : PySlice_Check(items[i]) ? Py_True : items[i];
        PyTuple_SET_ITEM(*pattern, i, Py_NewRef(part));
        if (is_number && !put_position(inputs, at++, items[i])) Py_CLEAR(inputs);
    }
    return inputs;
}

/* Return `tensor[index]`, recorded by tapes; NULL without an exception for other recorders and other indices. */
static PyObject *indexed_on_tapes(PyObject *x, PyObject *index, PyObject *recorders)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(recorders); i++)
        if (Tape == NULL || !IS_A(PyList_GET_ITEM(recorders, i), Tape)) return NULL;
    PyObject *pattern = NULL, *inputs = item_op == NULL ? NULL : item_inputs(x, index, &pattern);
    PyObject *result = inputs == NULL ? NULL : indexed(x, index), *attributes = NULL, *outputs = NULL;
    if (result != NULL) attributes = Py_XNewRef(PyDict_GetItemWithError(patterns, pattern));
    if (result != NULL && attributes == NULL && !PyErr_Occurred())
        attributes = PyObject_CallOneArg(item_attributes, pattern);
    if (attributes != NULL) outputs = PyTuple_Pack(1, result);
    if (result != NULL && (outputs == NULL || record(recorders, item_op, inputs, attributes, outputs) < 0))
        Py_CLEAR(result);
    Py_XDECREF(outputs);
    Py_XDECREF(attributes);
    Py_XDECREF(inputs);
    Py_XDECREF(pattern);
    return result;
}

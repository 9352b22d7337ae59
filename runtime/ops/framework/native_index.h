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

   x[i, :, j:]      op(x, i, j), attributes of the pattern (hole, :, slice, hole, None)      one gradient for all i and j

   Slices of a pattern have these operands once it had many bounds: code for constant bounds is quicker. */

#define MOST_ITEMS 8 /* of a key */

static PyObject *item_op, *item_attributes, *patterns; /* set by `register`: the function for a pattern, and its results */

static int is_full_slice(PyObject *x)
{
    PySliceObject *given = (PySliceObject *)x;
    return PySlice_Check(x) && given->start == Py_None && given->stop == Py_None && given->step == Py_None;
}

/* Set the items of a key, and return their number. */
static Py_ssize_t items_of(PyObject **index, PyObject ***items)
{
    *items = PyTuple_CheckExact(*index) ? ((PyTupleObject *)*index)->ob_item : index;
    return PyTuple_CheckExact(*index) ? PyTuple_GET_SIZE(*index) : 1;
}

static int has_bounds(PyObject *index)
{
    PyObject **items;
    Py_ssize_t count = items_of(&index, &items);
    for (Py_ssize_t i = 0; i < count; i++)
        if (PySlice_Check(items[i]) && !is_full_slice(items[i])) return 1;
    return 0;
}

/* Append an integer of a key to the inputs as a tensor; return -1 if it has not the usual size. */
static int put_position(PyObject *inputs, PyObject *x)
{
    PyObject *array = is_usual_number(x) ? PyArray_SimpleNew(0, NULL, NPY_INT32) : NULL;
    if (array == NULL) return -1;
    *(int32_t *)PyArray_DATA((PyArrayObject *)array) = (int32_t)PyLong_AsLong(x);
    PyObject *tensor = new_tensor(array, Py_None);
    int failed = tensor == NULL ? -1 : PyList_Append(inputs, tensor);
    Py_XDECREF(tensor);
    return failed;
}

/* Append a part of a key to its pattern: NotImplemented for an integer, which becomes an input. */
static int put_part(PyObject *inputs, PyObject *pattern, PyObject *x)
{
    int is_number = PyLong_CheckExact(x);
    if (PyList_Append(pattern, is_number ? Py_NotImplemented : x) < 0) return -1;
    return is_number ? put_position(inputs, x) : 0;
}

/* The same for an item of a key; a slice with bounds has three parts. */
static int put_item(PyObject *inputs, PyObject *pattern, PyObject *x)
{
    if (!PySlice_Check(x)) return put_part(inputs, pattern, x);
    if (is_full_slice(x)) return PyList_Append(pattern, Py_True);
    PySliceObject *given = (PySliceObject *)x;
    if (given->step != Py_None || PyList_Append(pattern, (PyObject *)&PySlice_Type) < 0) return -1;
    return put_part(inputs, pattern, given->start) < 0 ? -1 : put_part(inputs, pattern, given->stop);
}

/* Return the inputs of the operation for an index, and set its pattern; NULL for other indices. */
static PyObject *item_inputs(PyObject *x, PyObject *index, PyObject **pattern)
{
    PyObject **items, *inputs = PyList_New(0), *parts = PyList_New(0);
    Py_ssize_t count = items_of(&index, &items);
    int failed = inputs == NULL || parts == NULL || count > MOST_ITEMS || PyList_Append(inputs, x) < 0;
    for (Py_ssize_t i = 0; !failed && i < count; i++) failed = put_item(inputs, parts, items[i]) < 0;
    failed = failed || PyList_GET_SIZE(inputs) == 1;
    PyObject *found = failed ? NULL : PyList_AsTuple(inputs);
    *pattern = failed ? NULL : PyList_AsTuple(parts);
    if (*pattern == NULL) Py_CLEAR(found);
    Py_XDECREF(inputs);
    Py_XDECREF(parts);
    return found;
}

/* Return `tensor[index]`, recorded by tapes; NULL without an exception for other recorders, other indices, and patterns
   that have no attributes yet. */
static PyObject *indexed_on_tapes(PyObject *x, PyObject *index, PyObject *recorders)
{
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(recorders); i++)
        if (Tape == NULL || !IS_A(PyList_GET_ITEM(recorders, i), Tape)) return NULL;
    PyObject *pattern = NULL, *inputs = item_op == NULL ? NULL : item_inputs(x, index, &pattern);
    PyObject *result = inputs == NULL ? NULL : indexed(x, index), *attributes = NULL, *outputs = NULL;
    if (result != NULL) attributes = Py_XNewRef(PyDict_GetItemWithError(patterns, pattern));
    if (result != NULL && attributes == NULL && !PyErr_Occurred())
        attributes = PyObject_CallOneArg(item_attributes, pattern);
    int is_constant = attributes == Py_None;
    if (is_constant) Py_CLEAR(result);
    if (attributes != NULL && !is_constant) outputs = PyTuple_Pack(1, result);
    if (result != NULL && (outputs == NULL || record(recorders, item_op, inputs, attributes, outputs) < 0))
        Py_CLEAR(result);
    Py_XDECREF(outputs);
    Py_XDECREF(attributes);
    Py_XDECREF(inputs);
    Py_XDECREF(pattern);
    return result;
}

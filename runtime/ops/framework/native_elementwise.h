/* Elementwise operations on one or two operands.

   x + y   →   arrays of one accepted dtype   →   kernel   →   tensor

   op_families.py has the same in Python. */

#include "native_programs.h"

/* Return a number as a tensor, which no other number of its class equals, and cache that. */
static PyObject *new_number(PyObject *key, int type, PyObject *value)
{
    PyObject *array = PyArray_SimpleNew(0, NULL, type);
    if (array != NULL && PyArray_SETITEM((PyArrayObject *)array, PyArray_BYTES((PyArrayObject *)array), value) < 0)
        Py_CLEAR(array);
    PyObject *made = new_tensor(array, Py_None);
    if (PyDict_GET_SIZE(numbers) >= MOST_NUMBERS) PyDict_Clear(numbers);
    if (made != NULL && PyDict_SetItem(numbers, key, made) < 0) Py_CLEAR(made);
    return made;
}

/* Return a number next to an array of a dtype as a tensor; None if Python must convert it. */
static PyObject *number(PyObject *dtype, PyObject *value)
{
    int is_float = PyFloat_CheckExact(value), is_zero = is_float && PyFloat_AS_DOUBLE(value) == 0.0;
    if (is_float || PyLong_CheckExact(value)) {
        int type = ((PyArray_Descr *)dtype)->type_num, is_whole = type == NPY_INT || type == NPY_LONG;
        PyObject *same = is_zero ? PyObject_Str(value) : Py_NewRef(value); /* 0.0 and -0.0 are equal */
        PyObject *key = same == NULL ? NULL : PyTuple_Pack(3, dtype, Py_TYPE(value), same);
        Py_XDECREF(same);
        PyObject *found = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(numbers, key));
        int is_plain = type == NPY_FLOAT || type == NPY_DOUBLE || (is_whole && !is_float);
        if (found == NULL && !PyErr_Occurred() && is_plain && is_usual_number(value)) found = new_number(key, type, value);
        Py_XDECREF(key);
        if (found != NULL || PyErr_Occurred()) return found;
    }
    return PyObject_CallFunctionObjArgs(operand, dtype, value, NULL);
}

/* Set one or two operands as tensors. Return 0 if one cannot be, -1 with an exception. */
static int set_operands(PyObject **x, PyObject *const *given, int size, PyObject *recorders)
{
    int missing = -1;
    for (int i = 0; i < size; i++) {
        if (Py_IS_TYPE(given[i], Tensor)) x[i] = Py_NewRef(given[i]);
        else if (IS_A(given[i], Variable)) {
            PyObject *owner = PyObject_GetAttr(given[i], name_owner);
            Py_XDECREF(owner);
            if (owner != Py_None) return owner == NULL ? -1 : 0;
            if ((x[i] = value_of_variable(given[i], recorders)) == NULL) return -1;
        } else missing = missing < 0 ? i : size;
    }
    if (missing < 0) return 1;
    PyObject *other = missing == size || size == 1 ? NULL : AT(x[1 - missing], array_offset);
    if (other == NULL || !PyArray_CheckExact(other)) return 0;
    x[missing] = number((PyObject *)PyArray_DESCR((PyArrayObject *)other), given[missing]);
    if (x[missing] == Py_None) Py_CLEAR(x[missing]);
    return x[missing] != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* Return the abstract value of a result that has the type of an operand; else None. */
static PyObject *same_kind(PyObject *found, PyObject *x)
{
    PyArrayObject *y = (PyArrayObject *)found, *array = (PyArrayObject *)AT(x, array_offset);
    int is_same = PyArray_CheckExact(found) && PyArray_DESCR(y) == PyArray_DESCR(array)
        && PyArray_NDIM(y) == PyArray_NDIM(array)
        && PyArray_CompareLists(PyArray_DIMS(y), PyArray_DIMS(array), PyArray_NDIM(y));
    PyObject *kind = is_same ? AT(x, kind_offset) : NULL;
    return kind == NULL ? Py_None : kind;
}

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *op, *calls, *python, *converted; /* the operation, its kept calls, and two methods: see `Op._fields` */
    PyObject *compute, *accepted, *kept;       /* of an elementwise operation, else NULL */
    PyObject *ufunc;                           /* the function of NumPy that computes the same; None if there is none */
    int operands, on_numbers, is_closed, is_light, by_reference;
} EagerOp;

/* Return whether operands have one accepted dtype; -1 with an exception. */
static int are_accepted(EagerOp *self, PyObject *const *x)
{
    PyObject *dtype = NULL;
    for (int i = 0; i < self->operands; i++) {
        PyObject *array = AT(x[i], array_offset);
        if (array == NULL || !PyArray_CheckExact(array)) return 0;
        PyObject *own = (PyObject *)PyArray_DESCR((PyArrayObject *)array);
        if (dtype != NULL && own != dtype) return 0;
        dtype = own;
    }
    return PySet_Contains(self->accepted, dtype);
}

/* The fallback for a call that is not cached. OR_COUNT counts the call, and caches it at its next occurrence. */
typedef enum { OR_CONVERT, OR_COUNT, OR_NOTHING } Otherwise;

/* Return the array that the kernel makes of tensors of one accepted dtype. */
static PyObject *computed_arrays(EagerOp *self, PyObject *const *x)
{
    PyObject *arrays[2];
    int size = self->operands, is_scalar = self->on_numbers;
    for (int i = 0; i < size; i++)
        is_scalar = is_scalar && PyArray_NDIM((PyArrayObject *)AT(x[i], array_offset)) == 0;
    for (int i = 0; i < size; i++) {
        PyArrayObject *array = (PyArrayObject *)AT(x[i], array_offset);
        arrays[i] = is_scalar ? PyArray_ToScalar(PyArray_DATA(array), array) : Py_NewRef(array);
    }
    PyObject *found = NULL;
    if (arrays[0] != NULL && arrays[size - 1] != NULL) found = quietly(self->compute, arrays, size, self->is_closed);
    for (int i = 0; i < size; i++) Py_XDECREF(arrays[i]);
    return as_array(found, Py_None);
}

static PyObject *run_kept(EagerOp *self, PyObject *const *args, Py_ssize_t count, PyObject *names, PyObject *recorders,
                          Otherwise otherwise);

static int one_has_bytes(PyObject *const *x, int size, npy_intp least)
{
    return has_bytes(AT(x[0], array_offset), least) || has_bytes(AT(x[size - 1], array_offset), least);
}

/* Return the result for tensors of one accepted dtype; None if they must be checked. A call whose kernel may take long is
   kept, for it may be compiled, unless the loop takes no longer than the memory does. A shorter one is kept only if its
   shapes recur. */
static PyObject *computed_elementwise(EagerOp *self, PyObject *const *x, PyObject *recorders)
{
    int size = self->operands, may_be_long = one_has_bytes(x, size, self->ufunc == Py_None ? LONG : LARGE);
    int is_loop = self->ufunc != Py_None && (self->is_light || !may_be_long);
    PyObject *found = is_loop ? looped(self->ufunc, x, size) : NULL;
    if (found == NULL && !PyErr_Occurred()) {
        if (may_be_long) return run_kept(self, x, size, NULL, recorders, OR_CONVERT);
        if (self->ufunc == Py_None && one_has_bytes(x, size, SHORT)) {
            PyObject *kept = run_kept(self, x, size, NULL, recorders, OR_COUNT);
            if (kept != NULL || PyErr_Occurred()) return kept;
        }
        found = computed_arrays(self, x);
    }
    PyObject *result = new_tensor(found, found == NULL ? Py_None : same_kind(found, x[0]));
    if (result == NULL && PyErr_ExceptionMatches(refused)) { /* the complete way raises the full message */
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if (result != NULL && PyList_GET_SIZE(recorders) > 0
        && record_few(recorders, self->op, self->kept, x, size, result) < 0)
        Py_CLEAR(result);
    return result;
}

/* Return the result of an elementwise operation on tensors, variables and a number; None if they must be checked. */
static PyObject *elementwise(EagerOp *self, PyObject *const *given, PyObject *recorders)
{
    PyObject *x[2] = {NULL, NULL}, *result = NULL;
    int size = self->operands, are_set = set_operands(x, given, size, recorders);
    if (are_set > 0) are_set = are_accepted(self, x);
    if (are_set > 0) result = computed_elementwise(self, x, recorders);
    else if (are_set == 0) result = Py_NewRef(Py_None);
    Py_XDECREF(x[0]);
    Py_XDECREF(x[1]);
    return result;
}

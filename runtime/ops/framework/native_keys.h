/* Keys of eager calls: the abstract values of tensors, and the values of all other arguments.

   (x, [1, "same"], axis=0)   →   ("axis", float32[2], list, 2, int, 1, str, "same", int, 0),   tensors [x]

   eager_calls.py has the same in Python. */

#include "../../core/native_tensors.h"

#define LONGEST 32     /* items of a list in a key */
#define TENSORS 256    /* items of a list in a key that begins with a tensor */
#define TEXT 256       /* characters of a string in a key */
#define MOST_PARTS 256 /* parts of a key after which no list begins */
#define PARTS 1024     /* parts of a key */

static PyObject *Variable, *TensorArray, *ListType, *TensorType, *TensorShape, *atoms; /* set by `register` */
static PyObject *kinds, *kind_of; /* abstract values by dtype and shape, and the function that adds one */
enum { ELEMENTS, TYPE, ARRAY_SLOTS };
static const char *const array_names[ARRAY_SLOTS] = {"_array", "spec"};
static Py_ssize_t array_slots[ARRAY_SLOTS];
static PyObject *name_owner, *name_array, *name_sizes, *name_spec, *name_element, *name_dtype, *name_shape;

#define IS_A(x, type) ((PyObject *)Py_TYPE(x) == (type))

typedef struct {
    Py_ssize_t count;
    PyObject *parts[PARTS]; /* owned references */
    PyObject *tensors;      /* a list */
    PyObject *recorders;    /* of reads of variables; NULL if variables count by reference */
    Py_ssize_t usual;       /* parts that are usual numbers */
    short numbers[PARTS];   /* their positions */
} Key;

static PyObject *value_of_variable(PyObject *variable, PyObject *recorders);

/* Append a part, whose reference moves into the key; return whether that succeeded. */
static int put(Key *key, PyObject *part)
{
    if (part == NULL) return 0;
    if (key->count == PARTS) {
        Py_DECREF(part);
        return 0;
    }
    key->parts[key->count++] = part;
    return 1;
}

static int put_type(Key *key, PyObject *x) { return put(key, Py_NewRef((PyObject *)Py_TYPE(x))); }

/* Return the abstract value of a tensor, and cache it in the tensor. */
static PyObject *kind_in(PyObject *x)
{
    PyObject *kind = AT(x, kind_offset), *given = AT(x, array_offset);
    if (kind != NULL && kind != Py_None) return Py_NewRef(kind);
    if (given == NULL || !PyArray_CheckExact(given)) return PyObject_CallOneArg(kind_of, x);
    PyArrayObject *array = (PyArrayObject *)given;
    PyObject *shape = PyArray_IntTupleFromIntp(PyArray_NDIM(array), PyArray_DIMS(array));
    PyObject *key = shape == NULL ? NULL : PyTuple_Pack(2, PyArray_DESCR(array), shape);
    kind = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(kinds, key));
    Py_XDECREF(shape);
    Py_XDECREF(key);
    if (kind != NULL) Py_XSETREF(AT(x, kind_offset), Py_NewRef(kind));
    return kind != NULL || PyErr_Occurred() ? kind : PyObject_CallOneArg(kind_of, x);
}

/* Append a tensor, whose reference is consumed. */
static int put_tensor(Key *key, PyObject *x)
{
    int is_put = x != NULL && put(key, kind_in(x)) && PyList_Append(key->tensors, x) == 0;
    Py_XDECREF(x);
    return is_put;
}

/* Return the type of the elements of a variable or a TensorArray; NULL for an array of arrays. */
static PyObject *content_of(PyObject *x)
{
    if (!IS_A(x, TensorArray)) return PyObject_GetAttr(x, name_spec);
    PyObject *type = AT(x, array_slots[TYPE]), *element = type == NULL ? NULL : PyObject_GetAttr(type, name_element);
    if (element != NULL && !IS_A(element, TensorType)) Py_CLEAR(element);
    return element;
}

/* Append a variable or a TensorArray itself. */
static int put_reference(Key *key, PyObject *x)
{
    PyObject *content = content_of(x);
    int is_put = content != NULL && put_type(key, x) && put(key, PyObject_GetAttr(content, name_dtype))
        && put(key, PyObject_GetAttr(content, name_shape)) && PyList_Append(key->tensors, x) == 0;
    Py_XDECREF(content);
    return is_put;
}

static int put_variable(Key *key, PyObject *x)
{
    PyObject *owner = PyObject_GetAttr(x, name_owner);
    Py_XDECREF(owner);
    if (owner != Py_None) return 0;
    return key->recorders == NULL ? put_reference(key, x) : put_tensor(key, value_of_variable(x, key->recorders));
}

/* Append an array of numbers as a tensor; its copy, because the program may write to it later. */
static int put_array(Key *key, PyObject *x)
{
    PyObject *array = PyArray_CheckExact(x) ? Py_NewRef(x) : PyArray_FromScalar(x, NULL);
    if (array == NULL) return 0;
    int type = PyArray_TYPE((PyArrayObject *)array);
    int is_plain = PyArray_ISNOTSWAPPED((PyArrayObject *)array)
        && (type <= NPY_DOUBLE || type == NPY_CFLOAT || type == NPY_CDOUBLE || type == NPY_HALF);
    if (is_plain && array == x) Py_SETREF(array, PyArray_NewCopy((PyArrayObject *)x, NPY_KEEPORDER));
    if (is_plain && put_type(key, x)) return put_tensor(key, new_tensor(array, Py_None));
    Py_XDECREF(array);
    return 0;
}

static int put_float(Key *key, PyObject *x)
{
    int is_zero = PyFloat_AS_DOUBLE(x) == 0.0; /* 0.0 and -0.0 are equal */
    return put_type(key, x) && put(key, is_zero ? PyObject_Str(x) : Py_NewRef(x));
}

/* Append a slice of integers. */
static int put_slice(Key *key, PyObject *x)
{
    PyObject *ends[] = {((PySliceObject *)x)->start, ((PySliceObject *)x)->stop, ((PySliceObject *)x)->step};
    int is_put = put_type(key, x);
    for (int i = 0; i < 3; i++)
        is_put = is_put && (ends[i] == Py_None || PyLong_CheckExact(ends[i])) && put(key, Py_NewRef(ends[i]));
    return is_put;
}

static int put_argument(Key *key, PyObject *x);

static int put_items(Key *key, PyObject *x)
{
    Py_ssize_t size = PySequence_Fast_GET_SIZE(x);
    int has_tensors = size > 0 && Py_IS_TYPE(PySequence_Fast_GET_ITEM(x, 0), Tensor);
    if (size > (has_tensors ? TENSORS : LONGEST) || key->count > MOST_PARTS) return 0;
    if (!put_type(key, x) || !put(key, PyLong_FromSsize_t(PySequence_Fast_GET_SIZE(x)))) return 0;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(x); i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(x, i));
        int is_put = put_argument(key, item);
        Py_DECREF(item);
        if (!is_put) return 0;
    }
    return 1;
}

static int is_atom(PyObject *x)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(atoms); i++)
        if (IS_A(x, PyTuple_GET_ITEM(atoms, i))) return 1;
    return 0;
}

/* Return whether a value is a number of Python for which int32 or float32 has surely room. */
static int is_usual_number(PyObject *x)
{
    int overflows = 0;
    if (PyFloat_CheckExact(x)) return fabs(PyFloat_AS_DOUBLE(x)) < 1e38;
    long value = PyLong_CheckExact(x) ? PyLong_AsLongAndOverflow(x, &overflows) : LONG_MAX;
    return !overflows && value >= INT32_MIN && value <= INT32_MAX;
}

/* Append the parts for an argument; return whether it has a key. An error may be set if it has none. */
static int put_argument(Key *key, PyObject *x)
{
    if (Py_IS_TYPE(x, Tensor)) return put_tensor(key, Py_NewRef(x));
    if (key->count < PARTS - 1 && is_usual_number(x)) key->numbers[key->usual++] = key->count + 1;
    if (PyUnicode_CheckExact(x) && PyUnicode_GET_LENGTH(x) > TEXT) return 0;
    if (is_atom(x) || PyArray_DescrCheck(x)) return put_type(key, x) && put(key, Py_NewRef(x));
    if (PyFloat_CheckExact(x)) return put_float(key, x);
    if (PyList_CheckExact(x) || PyTuple_CheckExact(x)) return put_items(key, x);
    if (PySlice_Check(x)) return put_slice(key, x);
    if (IS_A(x, TensorShape)) return put_type(key, x) && put(key, PyObject_GetAttr(x, name_sizes));
    if (IS_A(x, Variable)) return put_variable(key, x);
    if (IS_A(x, TensorArray)) return put_reference(key, x);
    return (PyArray_CheckExact(x) || PyArray_IsScalar(x, Generic)) && put_array(key, x);
}

/* Return whether the arguments of a call have a key. */
static int put_arguments(Key *key, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    for (Py_ssize_t i = 0; i < named; i++)
        if (!put(key, Py_NewRef(PyTuple_GET_ITEM(names, i)))) return 0;
    for (Py_ssize_t i = 0; i < count + named; i++)
        if (!put_argument(key, args[i])) return 0;
    return 1;
}

/* Return the key as a tuple, which takes over the parts. */
static PyObject *taken(Key *key)
{
    PyObject *parts = PyTuple_New(key->count);
    for (Py_ssize_t i = 0; parts != NULL && i < key->count; i++) PyTuple_SET_ITEM(parts, i, key->parts[i]);
    if (parts != NULL) key->count = 0;
    return parts;
}

/* Return the parts of a key without its numbers; None if there are none. */
static PyObject *types_in(Key *key, PyObject *parts)
{
    if (key->usual == 0) Py_RETURN_NONE;
    PyObject *types = PyTuple_New(PyTuple_GET_SIZE(parts));
    for (Py_ssize_t i = 0; types != NULL && i < PyTuple_GET_SIZE(parts); i++)
        PyTuple_SET_ITEM(types, i, Py_NewRef(PyTuple_GET_ITEM(parts, i)));
    for (Py_ssize_t i = 0; types != NULL && i < key->usual; i++)
        Py_SETREF(((PyTupleObject *)types)->ob_item[key->numbers[i]], Py_NewRef(Py_None));
    return types;
}

/* Return a key followed by the elements of the tensors at some positions, and by these positions. */
static PyObject *with_elements(PyObject *parts, PyObject *positions, PyObject *tensors)
{
    Py_ssize_t size = PyTuple_GET_SIZE(parts), count = PyTuple_GET_SIZE(positions);
    PyObject *longer = PyTuple_New(size + count + 1);
    if (longer == NULL) return NULL;
    for (Py_ssize_t i = 0; i < size; i++) PyTuple_SET_ITEM(longer, i, Py_NewRef(PyTuple_GET_ITEM(parts, i)));
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *x = PyList_GetItem(tensors, PyLong_AsSsize_t(PyTuple_GET_ITEM(positions, i))), *bytes = NULL;
        if (x != NULL && Py_IS_TYPE(x, Tensor) && PyArray_CheckExact(AT(x, array_offset)))
            bytes = PyArray_ToString((PyArrayObject *)AT(x, array_offset), NPY_CORDER);
        if (bytes == NULL) {
            if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, "elements of no tensor");
            Py_DECREF(longer);
            return NULL;
        }
        PyTuple_SET_ITEM(longer, size + i, bytes);
    }
    PyTuple_SET_ITEM(longer, size + count, Py_NewRef(positions));
    return longer;
}

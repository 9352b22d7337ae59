/* Tensors in C extensions: their slots, at offsets that the member descriptors of their class have. */

#ifndef AGC_NATIVE_TENSORS_H
#define AGC_NATIVE_TENSORS_H

#include "numpy_2.h"

#include <structmember.h>

static PyTypeObject *Tensor;                 /* EagerTensor, once `set_tensor_class` has run */
static Py_ssize_t array_offset, kind_offset; /* of its slots `_array` and `_kind` */

#define AT(object, offset) (*(PyObject **)((char *)(object) + (offset)))

/* Set the offsets of object slots of a class; return -1 with an exception if a name is no slot. */
static int slot_offsets(PyObject *type, const char *const *names, int count, Py_ssize_t *offsets)
{
    if (!PyType_Check(type)) {
        PyErr_Format(PyExc_TypeError, "%R is no class", type);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        PyObject *slot = PyObject_GetAttrString(type, names[i]);
        if (slot == NULL) return -1;
        int is_slot = Py_IS_TYPE(slot, &PyMemberDescr_Type)
            && PyType_IsSubtype((PyTypeObject *)type, PyDescr_TYPE(slot))
            && ((PyMemberDescrObject *)slot)->d_member->type == T_OBJECT_EX;
        if (is_slot) offsets[i] = ((PyMemberDescrObject *)slot)->d_member->offset;
        else PyErr_Format(PyExc_TypeError, "%R has no slot %s", type, names[i]);
        Py_DECREF(slot);
        if (!is_slot) return -1;
    }
    return 0;
}

static int set_tensor_class(PyObject *type)
{
    static const char *const names[] = {"_array", "_kind"};
    Py_ssize_t offsets[2];
    if (slot_offsets(type, names, 2, offsets) < 0) return -1;
    array_offset = offsets[0];
    kind_offset = offsets[1];
    PyObject *before = (PyObject *)Tensor;
    Tensor = (PyTypeObject *)Py_NewRef(type);
    Py_XDECREF(before);
    return 0;
}

/* Return a tensor of an array, whose reference moves into the tensor. */
static PyObject *new_tensor(PyObject *array, PyObject *kind)
{
    PyObject *tensor = array == NULL ? NULL : Tensor->tp_alloc(Tensor, 0);
    if (tensor == NULL) {
        Py_XDECREF(array);
        return NULL;
    }
    AT(tensor, array_offset) = array;
    AT(tensor, kind_offset) = Py_NewRef(kind);
    return tensor;
}

#endif

/* Eager calls that were accepted before, without Python code around the kernel: an optional extension module.

   native_operators.h → native_operations.h → native_elementwise.h → native_programs.h → native_calls.h →
   native_loops.h → native_sweep.h → native_cotangents.h → native_flow.h → native_tape.h → native_watches.h →
   native_keys.h */

#include "native_operators.h"

typedef struct { const char *name; PyObject **at; } Entry;

static const Entry registered[] = {
    {"variable", &Variable}, {"array", &TensorArray}, {"array_type", &ListType}, {"array_element", &TensorType}, {"shape", &TensorShape},
    {"atoms", &atoms}, {"kinds", &kinds}, {"kind_of", &kind_of}, {"call", &EagerCall}, {"program", &EagerProgram}, {"silence", &silence},
    {"silent", &silent}, {"pool", &pool}, {"begin", &begin}, {"end", &end}, {"refused", &refused}, {"busy", &busy}, {"stack", &stack},
    {"placement", &placement}, {"found_recorders", &found_recorders}, {"numbers", &numbers}, {"operand", &operand}, {"tape", &Tape}, {"record", &Record},
    {"kept_attributes", &KeptAttributes}, {"assigned", &Assigned}, {"own_files", &own_files}, {"carries_gradient", &carries}, {"read_variable", &read_variable},
    {"gradient_plan", &GradientPlan}, {"add", &add}, {"total", &total}, {"dense", &dense}, {"pulled", &pulled},
    {"handing_on", &handing_on}, {"item_op", &item_op}, {"item_attributes", &item_attributes}, {"patterns", &patterns},
};

static const Entry names[] = {
    {"_owner", &name_owner}, {"_array", &name_array}, {"sizes", &name_sizes}, {"content_spec", &name_spec},
    {"element", &name_element}, {"dtype", &name_dtype}, {"shape", &name_shape}, {"computed", &name_computed},
    {"_accessed", &name_accessed}, {"carries_gradient", &name_carries}, {"failed", &name_failed},
    {"value", &name_value}, {"eager_recorders", &name_recorders},
    {"observed", &name_observed}, {"compute", &name_compute}, {"_fields", &name_fields}, {"slow", &name_slow},
    {"_variable", &name_variable}, {"trainable", &name_trainable}, {"kind", &name_kind},
};

/* Return -1 with an exception if a class has other slots than the code for it. */
static int set_slots(PyObject *given)
{
    PyObject *tensor = PyDict_GetItemString(given, "tensor"), *call = PyDict_GetItemString(given, "call");
    PyObject *array = PyDict_GetItemString(given, "array"), *record = PyDict_GetItemString(given, "record");
    PyObject *tape = PyDict_GetItemString(given, "tape");
    if (tensor != NULL && set_tensor_class(tensor) < 0) return -1;
    if (call != NULL && slot_offsets(call, slot_names, SLOTS, slots) < 0) return -1;
    PyObject *program = PyDict_GetItemString(given, "program");
    if (program != NULL && slot_offsets(program, program_names, PROGRAM_SLOTS, program_slots) < 0) return -1;
    if (array != NULL && slot_offsets(array, array_names, ARRAY_SLOTS, array_slots) < 0) return -1;
    if (tape != NULL && slot_offsets(tape, tape_names, TAPE_SLOTS, tape_slots) < 0) return -1;
    PyObject *plan = PyDict_GetItemString(given, "gradient_plan"), *kept = PyDict_GetItemString(given, "kept_attributes");
    static const char *const plans[] = {"plans"};
    if (plan != NULL && slot_offsets(plan, plan_names, PLAN_SLOTS, plan_slots) < 0) return -1;
    if (kept != NULL && slot_offsets(kept, plans, 1, &plans_offset) < 0) return -1;
    return record == NULL ? 0 : slot_offsets(record, record_names, RECORD_SLOTS, record_slots);
}

static PyObject *register_things(PyObject *module, PyObject *args, PyObject *given)
{
    if (PyTuple_GET_SIZE(args) || given == NULL || set_slots(given) < 0)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "register(**classes_and_functions)");
    for (size_t i = 0; i < sizeof registered / sizeof *registered; i++) {
        PyObject *thing = PyDict_GetItemString(given, registered[i].name);
        if (thing != NULL) Py_XSETREF(*registered[i].at, Py_NewRef(thing));
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register", (PyCFunction)(void (*)(void))register_things, METH_VARARGS | METH_KEYWORDS,
     "register(**classes_and_functions)\n--\n\nSet the classes and functions that calls and tapes use."},
    {"caller", caller, METH_O, "caller(op)\n--\n\nReturn the callable in the slot `__call__` of an operation."},
    {"operator", make_operator, METH_VARARGS,
     "operator(method, ops, is_reflected)\n--\n\nReturn a method that tries elementwise operations, and then `method`."},
    {"getitem", make_getitem, METH_VARARGS,
     "getitem(method, op)\n--\n\nReturn a method that tries basic indexing, which `op` records on tapes, and then `method`."},
    {"assignment", make_assignment, METH_VARARGS,
     "assignment(method, op, attributes, ufunc=None)\n--\n\nReturn a method of variables that tries `ufunc`, in place unless "
     "tapes record `op` with these attributes, a kept call of `op`, and then `method`."},
    {"read", (PyCFunction)(void (*)(void))read_recorded, METH_FASTCALL,
     "read(variable, recorders)\n--\n\nReturn the present value of a variable, and record the read."},
    {"tape_computed", (PyCFunction)(void (*)(void))computed_on_tape, METH_FASTCALL,
     "tape_computed(tape, op, inputs, attrs, outputs)\n--\n\nRecord an operation if the tape tracks an input."},
    {"tape_keep", (PyCFunction)(void (*)(void))keep_on_tape, METH_FASTCALL,
     "tape_keep(tape, record)\n--\n\nAppend a record if the tape tracks an input; return False if not all tensors are eager."},
    {"flow_key", (PyCFunction)(void (*)(void))flow_key, METH_FASTCALL,
     "flow_key(records, handing_on, ends, since)\n--\n\nReturn the tensors of records and ends, and the key of their "
     "flow; None if they have none."},
    {"run_program", (PyCFunction)(void (*)(void))run_given, METH_FASTCALL,
     "run_program(program, tensors, recorders)\n--\n\nReturn the result of a program, and record its operations."},
    {"sweep", (PyCFunction)(void (*)(void))sweep_back, METH_FASTCALL,
     "sweep(records, targets, sources, since)\n--\n\nReturn the cotangents of sources; None if not all tensors are eager."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_eager", "Eager calls without Python code around the kernel.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_eager(void)
{
    import_array();
    import_umath();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].name)) == NULL) return NULL;
    if ((no_attributes = PyDict_New()) == NULL || (no_recorders = PyList_New(0)) == NULL) return NULL;
    if (PyType_Ready(&EagerOpType) < 0 || PyType_Ready(&OperatorType) < 0) return NULL;
    return PyModule_Create(&definition);
}

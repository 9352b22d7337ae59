/* Windows that slide over each channel alone, for depthwise convolutions and pooling: an optional extension module.

   x [batch, height, width, channels]        slide("convolve", x, y, w, None, geometry)      y += x w
   y [batch, rows, columns, channels]        slide("correlate", x, y, w, None, geometry)     w += x y
   w [window height, width, channels]        slide("largest", x, y, …), "sum", "share"       y = max(x, y), y += x, x += y
                                             slide("choose", x, y, dy, dx, geometry)         dx += dy, at the first x = y

   Elements outside of x are skipped. `geometry` has, for both axes, the sizes of the window, the strides, the dilations,
   and the padding before the first element. windows.py calls it, for parts of the batch that threads share. */

#include "../../core/numpy_2.h"

#define BLOCK 32 /* channels whose sums stay in registers */

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define VECTORS
#endif

typedef struct {
    npy_intp batch, height, width, channels, rows, columns;
    npy_intp window[2], strides[2], dilations[2], before[2];
} Geometry;

typedef void Slide(const Geometry *g, void *x, void *y, void *w, void *z);

/* Run `body` at each element of each window, whose channels are `a` in x, `b` in y and `f` in the window. */
#define AT_EACH(type, body)                                                                                   \
    for (npy_intp n = 0; n < g->batch; n++)                                                                   \
        for (npy_intp i = 0; i < g->rows; i++)                                                                \
            for (npy_intp j = 0; j < g->columns; j++) {                                                       \
                npy_intp place = ((n * g->rows + i) * g->columns + j) * g->channels;                          \
                (void)place;                                                                                  \
                BEFORE(type)                                                                                  \
                for (npy_intp k = 0; k < g->window[0]; k++) {                                                 \
                    npy_intp p = i * g->strides[0] + k * g->dilations[0] - g->before[0];                      \
                    if (p < 0 || p >= g->height) continue;                                                    \
                    for (npy_intp l = 0; l < g->window[1]; l++) {                                             \
                        npy_intp q = j * g->strides[1] + l * g->dilations[1] - g->before[1];                  \
                        if (q < 0 || q >= g->width) continue;                                                 \
                        npy_intp at = ((n * g->height + p) * g->width + q) * g->channels + first;             \
                        npy_intp tap = (k * g->window[1] + l) * g->channels + first;                          \
                        (void)tap;                                                                            \
                        body                                                                                  \
                    }                                                                                         \
                }                                                                                             \
                AFTER(type)                                                                                   \
            }

/* A loop over all channels, in blocks of a known width where possible. */
#define DEFINE(name, type, body)                                                                              \
    static inline __attribute__((always_inline)) void name##_##type##_block(                                  \
        const Geometry *g, type *x, type *y, type *w, type *z, npy_intp first, npy_intp width)                \
    {                                                                                                         \
        AT_EACH(type, body)                                                                                   \
    }                                                                                                         \
    VECTORS static void name##_##type(const Geometry *g, void *x, void *y, void *w, void *z)                  \
    {                                                                                                         \
        npy_intp first = 0;                                                                                   \
        for (; first + BLOCK <= g->channels; first += BLOCK) name##_##type##_block(g, x, y, w, z, first, BLOCK); \
        if (first < g->channels) name##_##type##_block(g, x, y, w, z, first, g->channels - first);            \
    }

#define EACH for (npy_intp c = 0; c < width; c++)

#define BEFORE(type)                          \
    type sums[BLOCK], *own = y + place + first; \
    EACH sums[c] = own[c];
#define AFTER(type) EACH own[c] = sums[c];
#define DEFINE_SUMS(type)                                                                          \
    DEFINE(convolve, type, EACH sums[c] += x[at + c] * w[tap + c];)                                \
    DEFINE(sum, type, EACH sums[c] += x[at + c];)                                                  \
    DEFINE(largest, type, EACH sums[c] = sums[c] >= x[at + c] || sums[c] != sums[c] ? sums[c] : x[at + c];)
DEFINE_SUMS(float)
DEFINE_SUMS(double)
#undef BEFORE
#undef AFTER

#define BEFORE(type) const type *own = y + place + first;
#define AFTER(type)
#define DEFINE_SHARES(type)                                                  \
    DEFINE(share, type, EACH x[at + c] += own[c];)                           \
    DEFINE(correlate, type, EACH w[tap + c] += x[at + c] * own[c];)
DEFINE_SHARES(float)
DEFINE_SHARES(double)
#undef BEFORE

#define BEFORE(type)                                                   \
    const type *own = y + place + first, *given = w + place + first;   \
    type rest[BLOCK];                                                  \
    EACH rest[c] = given[c];
DEFINE(choose, float, EACH { float here = x[at + c] == own[c] ? rest[c] : 0; z[at + c] += here; rest[c] = x[at + c] == own[c] ? 0 : rest[c]; })
DEFINE(choose, double, EACH { double here = x[at + c] == own[c] ? rest[c] : 0; z[at + c] += here; rest[c] = x[at + c] == own[c] ? 0 : rest[c]; })

static const struct {
    const char *name;
    Slide *run[2]; /* of float32 and float64 */
} slides[] = {
#define BOTH(name) {#name, {name##_float, name##_double}}
    BOTH(convolve), BOTH(correlate), BOTH(largest), BOTH(sum), BOTH(share), BOTH(choose),
};

/* Set the memory of an array of this shape; 0 if it is another one. None has no memory. */
static int read_array(PyObject *object, int type, const npy_intp *shape, int rank, void **data)
{
    *data = NULL;
    if (object == Py_None) return shape == NULL;
    if (shape == NULL || !PyArray_CheckExact(object)) return 0;
    PyArrayObject *array = (PyArrayObject *)object;
    *data = PyArray_DATA(array);
    return PyArray_TYPE(array) == type && PyArray_ISCARRAY_RO(array) && PyArray_NDIM(array) == rank
           && PyArray_CompareLists(PyArray_DIMS(array), shape, rank);
}

static PyObject *slide(PyObject *module, PyObject *arguments)
{
    const char *name;
    PyObject *x, *y, *w, *z;
    Geometry g;
    if (!PyArg_ParseTuple(arguments, "sOOOO((nn)(nn)(nn)(nn))", &name, &x, &y, &w, &z, &g.window[0], &g.window[1],
                          &g.strides[0], &g.strides[1], &g.dilations[0], &g.dilations[1], &g.before[0], &g.before[1]))
        return NULL;
    size_t which = 0, count = sizeof slides / sizeof *slides;
    while (which < count && strcmp(slides[which].name, name)) which++;
    if (which == count) return PyErr_Format(PyExc_ValueError, "slide: no kind %s", name);
    if (!PyArray_CheckExact(x) || !PyArray_CheckExact(y)) Py_RETURN_FALSE;
    int type = PyArray_TYPE((PyArrayObject *)x);
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || PyArray_NDIM((PyArrayObject *)x) != 4
        || PyArray_NDIM((PyArrayObject *)y) != 4)
        Py_RETURN_FALSE;
    const npy_intp *large = PyArray_DIMS((PyArrayObject *)x), *small = PyArray_DIMS((PyArrayObject *)y);
    g.batch = large[0], g.height = large[1], g.width = large[2], g.channels = large[3];
    g.rows = small[1], g.columns = small[2];
    npy_intp windows[4] = {g.batch, g.rows, g.columns, g.channels}, filter[3] = {g.window[0], g.window[1], g.channels};
    int is_choice = !strcmp(name, "choose"), has_filter = which < 2;
    void *data[4];
    if (!read_array(x, type, large, 4, &data[0]) || !read_array(y, type, windows, 4, &data[1])
        || !read_array(w, type, is_choice ? windows : has_filter ? filter : NULL, is_choice ? 4 : 3, &data[2])
        || !read_array(z, type, is_choice ? large : NULL, 4, &data[3]))
        Py_RETURN_FALSE;
    PyObject *changed = is_choice ? z : !strcmp(name, "correlate") ? w : !strcmp(name, "share") ? x : y;
    if (!PyArray_ISWRITEABLE((PyArrayObject *)changed)) Py_RETURN_FALSE;
    Py_BEGIN_ALLOW_THREADS
    slides[which].run[type == NPY_DOUBLE](&g, data[0], data[1], data[2], data[3]);
    Py_END_ALLOW_THREADS
    Py_RETURN_TRUE;
}

static PyMethodDef functions[] = {
    {"slide", slide, METH_VARARGS,
     "slide(kind, x, y, w, z, geometry)\n--\n\nReturn whether it is done; False for arrays that are left to NumPy."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_windows", "Windows that slide over each channel alone.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_windows(void)
{
    import_array();
    return PyModule_Create(&definition);
}

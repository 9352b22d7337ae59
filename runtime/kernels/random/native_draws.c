/* Random numbers of float32, block by block in the nearest cache, and shuffles: an optional extension module.

   key, counter   →   words of Philox 4x32-10   →   uniform, normal and truncated normal numbers

   philox.py, distributions.py and rejection_samplers.py explain the methods, and compute the same with NumPy. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdint.h>

#define LANES 64      /* blocks at a time */
#define LONG (1 << 16) /* bytes of a result that is worth the release of the GIL */

typedef struct {
    uint64_t key, low, high; /* the counter has 128 bits */
} Stream;

typedef union {
    uint32_t words[4][LANES];
    float numbers[4][LANES];
} Blocks;

typedef void Maker(Stream s, uint64_t step, int count, Blocks *b);

static inline Stream moved(Stream s, uint64_t steps)
{
    s.low += steps;
    s.high += s.low < steps;
    return s;
}

static inline void set_counter(Stream at, int i, Blocks *b)
{
    b->words[0][i] = (uint32_t)at.low;
    b->words[1][i] = (uint32_t)(at.low >> 32);
    b->words[2][i] = (uint32_t)at.high;
    b->words[3][i] = (uint32_t)(at.high >> 32);
}

/* Replace the counters of `count` blocks by their words. */
static void encipher(uint64_t key, int count, Blocks *b)
{
    uint32_t(*c)[LANES] = b->words, k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85)
        for (int i = 0; i < count; i++) {
            uint64_t p0 = (uint64_t)c[0][i] * 0xD2511F53, p1 = (uint64_t)c[2][i] * 0xCD9E8D57;
            c[0][i] = (uint32_t)(p1 >> 32) ^ c[1][i] ^ k0;
            c[1][i] = (uint32_t)p1;
            c[2][i] = (uint32_t)(p0 >> 32) ^ c[3][i] ^ k1;
            c[3][i] = (uint32_t)p0;
        }
}

/* Set the words of `count` blocks, whose counters are `step` apart. */
static void make_words(Stream s, uint64_t step, int count, Blocks *b)
{
    for (int i = 0; i < count; i++) set_counter(moved(s, i * step), i, b);
    encipher(s.key, count, b);
}

static void make_uniform(Stream s, uint64_t step, int count, Blocks *b)
{
    make_words(s, step, count, b);
    for (int w = 0; w < 4; w++)
        for (int i = 0; i < count; i++) b->numbers[w][i] = (float)(int32_t)(b->words[w][i] & 0x7FFFFF) * 0x1p-23f;
}

/* Set the sine and the cosine of an angle from 0 to 2 pi, as exactly as rounding to float32 needs. */
static inline void sine_and_cosine(double angle, double *sine, double *cosine)
{
    static const double sines[] = {/* coefficients of the Taylor series */
                                   1, 1 / 6.0, 1 / 120.0, 1 / 5040.0, 1 / 362880.0, 1 / 39916800.0, 1 / 6227020800.0};
    static const double cosines[] = {1, 1 / 2.0, 1 / 24.0, 1 / 720.0, 1 / 40320.0, 1 / 3628800.0, 1 / 479001600.0,
                                     1 / 87178291200.0};
    int quarter = (int)(angle * 0x1.45f306dc9c883p-1 + 0.5);                               /* 2 / pi */
    double x = angle - quarter * 0x1.921fb544p0 - quarter * 0x1.0b4611a626331p-34, s = 0, c = 0; /* pi / 2 */
    for (int i = 6; i >= 0; i--) s = sines[i] - x * x * s;
    for (int i = 7; i >= 0; i--) c = cosines[i] - x * x * c;
    s *= x;
    *sine = quarter & 1 ? c : s;
    *cosine = quarter & 1 ? s : c;
    if (quarter & 2) *sine = -*sine;
    if ((quarter + 1) & 2) *cosine = -*cosine;
}

/* Each function is rounded to float32. */
static void make_normal(Stream s, uint64_t step, int count, Blocks *b)
{
    make_words(s, step, count, b);
    for (int w = 0; w < 4; w += 2) {
        float *first = b->numbers[w], *second = b->numbers[w + 1];
        uint32_t *unit = b->words[w], *turn = b->words[w + 1];
        for (int i = 0; i < count; i++) {
            double x = (int32_t)(unit[i] & 0x7FFFFF) * 0x1p-23;
            first[i] = sqrtf(-2 * (float)log(x < 1.0e-7f ? 1.0e-7f : x));
        }
        for (int i = 0; i < count; i++) {
            double sine, cosine;
            sine_and_cosine((float)((int32_t)(turn[i] & 0x7FFFFF) * (0x1p-23 * 6.283185307179586)), &sine, &cosine);
            second[i] = (float)cosine * first[i];
            first[i] = (float)sine * first[i];
        }
    }
}

/* Each block gets the first four numbers between -2 and 2 of a run of `run` blocks. */
static void make_truncated(Stream s, uint64_t run, int count, Blocks *b)
{
    Blocks tried, later;
    make_normal(s, run, count, &tried);
    for (int i = 0; i < count; i++) {
        int kept = 0;
        for (int w = 0; w < 4; w++)
            if (fabsf(tried.numbers[w][i]) < 2) b->numbers[kept++][i] = tried.numbers[w][i];
        for (int used = 1; kept < 4; used++) {
            make_normal(moved(moved(s, i * run), used), 1, 1, &later);
            for (int w = 0; w < 4 && kept < 4; w++)
                if (fabsf(later.numbers[w][0]) < 2) b->numbers[kept++][i] = later.numbers[w][0];
        }
    }
}

static void fill(uint32_t *out, Py_ssize_t size, Stream s, uint64_t step, Maker *make)
{
    Blocks b;
    for (; size > 0; size -= 4 * LANES, out += 4 * LANES, s = moved(s, LANES * step)) {
        int left = size < 4 * LANES ? (int)size : 4 * LANES;
        make(s, step, (left + 3) / 4, &b);
        for (int i = 0; i < left; i++) out[i] = b.words[i % 4][i / 4];
    }
}

static PyObject *filled(PyObject *arguments, Maker *make)
{
    unsigned long long key, low, high, step;
    Py_buffer out;
    if (!PyArg_ParseTuple(arguments, "w*KKKK", &out, &key, &low, &high, &step)) return NULL;
    PyThreadState *state = out.len < LONG ? NULL : PyEval_SaveThread();
    fill(out.buf, out.len / 4, (Stream){key, low, high}, step, make);
    if (state != NULL) PyEval_RestoreThread(state);
    PyBuffer_Release(&out);
    Py_RETURN_NONE;
}

/* Set the words of blocks at offsets from a counter. */
static PyObject *words_at(PyObject *module, PyObject *arguments)
{
    unsigned long long key, low, high;
    Py_buffer out, offsets;
    if (!PyArg_ParseTuple(arguments, "w*KKKy*", &out, &key, &low, &high, &offsets)) return NULL;
    Py_ssize_t count = offsets.len / 8 < out.len / 16 ? offsets.len / 8 : out.len / 16;
    const uint64_t *offset = offsets.buf;
    uint32_t *words = out.buf;
    PyThreadState *state = out.len < LONG ? NULL : PyEval_SaveThread();
    for (Py_ssize_t start = 0; start < count; start += LANES) {
        Blocks b;
        int size = count - start < LANES ? (int)(count - start) : LANES;
        for (int i = 0; i < size; i++) set_counter(moved((Stream){key, low, high}, offset[start + i]), i, &b);
        encipher(key, size, &b);
        for (int i = 0; i < 4 * size; i++) words[4 * start + i] = b.words[i % 4][i / 4];
    }
    if (state != NULL) PyEval_RestoreThread(state);
    PyBuffer_Release(&out);
    PyBuffer_Release(&offsets);
    Py_RETURN_NONE;
}

/* Fisher and Yates: `order` is a vector of int64, and has a word for each element but the last. */
static PyObject *shuffle(PyObject *module, PyObject *arguments)
{
    Py_buffer order, words;
    if (!PyArg_ParseTuple(arguments, "w*y*", &order, &words)) return NULL;
    int64_t *numbers = order.buf, count = order.len / 8;
    for (int64_t i = 0; i < count - 1 && i < words.len / 4; i++) {
        int64_t j = i + ((uint32_t *)words.buf)[i] % (count - i), taken = numbers[j];
        numbers[j] = numbers[i];
        numbers[i] = taken;
    }
    PyBuffer_Release(&order);
    PyBuffer_Release(&words);
    Py_RETURN_NONE;
}

static PyObject *words(PyObject *module, PyObject *arguments) { return filled(arguments, make_words); }
static PyObject *uniform(PyObject *module, PyObject *arguments) { return filled(arguments, make_uniform); }
static PyObject *normal(PyObject *module, PyObject *arguments) { return filled(arguments, make_normal); }
static PyObject *truncated(PyObject *module, PyObject *arguments) { return filled(arguments, make_truncated); }

static PyMethodDef functions[] = {
    {"words", words, METH_VARARGS, "words(out, key, low, high, step)\n--\n\nFill with words."},
    {"words_at", words_at, METH_VARARGS, "words_at(out, key, low, high, offsets)\n--\n\nFill with words of blocks at uint64 offsets."},
    {"uniform", uniform, METH_VARARGS, "uniform(out, key, low, high, step)\n--\n\nFill with numbers in [0, 1)."},
    {"normal", normal, METH_VARARGS, "normal(out, key, low, high, step)\n--\n\nFill with normal numbers."},
    {"truncated", truncated, METH_VARARGS,
     "truncated(out, key, low, high, step)\n--\n\nFill with normal numbers between -2 and 2."},
    {"shuffle", shuffle, METH_VARARGS, "shuffle(order, words)\n--\n\nShuffle a vector of int64 in place."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_draws", "Random numbers from the counter-based generator Philox.", 0, functions,
};

PyMODINIT_FUNC PyInit__native_draws(void) { return PyModule_Create(&definition); }

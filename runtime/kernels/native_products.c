/* Matrix products by BLAS, in parts that a pool of threads shares: an optional extension module.

              columns
         ┌──┬──┬──┬──┐      multiply(a, b, None, 2)            arrays of NumPy
    rows │ 0│ 1│ 2│ 3│      agc_multiply(a, b, c, sizes)       compiled code
         ├──┼──┼──┼──┤          parts ← halve the longer side until they are small enough
         │ 4│ 5│ 6│ 7│          limit BLAS to one thread
         └──┴──┴──┴──┘          run the parts of all matrices of the batch in the pool

   The number of parts depends on the sizes alone, and so does the result. It grows with the cube root of the work: BLAS
   packs the rows and columns of each part anew, and the packing takes more of the time the smaller the parts are.
   Products of few rows get small parts, which OpenBLAS multiplies without packing. Products with a vector use GEMV,
   which reads the matrix once. */

#include "../core/numpy_2.h"

#include "native_forks.h"

#define SHARED (1 << 18)   /* multiplications up to which OpenBLAS uses one thread */
#define WAKES (1 << 21)    /* multiplications from which sleeping threads are woken */
#define FEW 48             /* rows up to which parts are as small as UNPACKED */
#define UNPACKED 1000000   /* multiplications up to which OpenBLAS packs nothing */
#define VECTOR 9216        /* multiplications up to which OpenBLAS uses one thread for a vector */

enum Kind { SINGLE, DOUBLE, COMPLEX, DOUBLE_COMPLEX };

static const int64_t BYTES[] = {4, 8, 8, 16};

/* The sizes of a batch of products, in elements: the table of compiled code (executors/llvm/lowering/blas_calls.py). */
typedef struct {
    int64_t kind, a_flag, b_flag;         /* the flags of BLAS: as it is, transposed, adjoint */
    int64_t m, n, k;
    int64_t a_lead, b_lead, c_lead;       /* the distances of stored rows */
    int64_t a_row, b_column;              /* the distances of rows and columns */
    int64_t count, inner;                 /* the products, in groups of `inner` */
    int64_t a_outer, a_inner, b_outer, b_inner, c_outer, c_inner; /* the distances of groups, and of products */
    int64_t threads;
    int64_t is_repeated;                  /* whether this is in a loop, where sleeping threads always join */
} Sizes;

/* ---- The library --------------------------------------------------------------------------------------------- */

static struct {
    void *gemm[4]; /* by kind */
    void *gemv[2]; /* by kind: real numbers */
    int bits;      /* of their integers */
    int (*get)(void);
    void (*put)(int);
    int64_t *limit; /* kernels/blas_limit.py: a spin lock, the number of users, the threads before the first one */
} blas;

static void take_limit(void)
{
    int64_t free = 0;
    while (!__atomic_compare_exchange_n(blas.limit, &free, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        free = 0;
        sched_yield();
    }
}

/* Limit BLAS to one thread until `end_limit`, if it can be limited. */
static void begin_limit(void)
{
    if (!blas.put) return;
    take_limit();
    if (blas.limit[1]++ == 0) {
        blas.limit[2] = blas.get();
        blas.put(1);
    }
    __atomic_store_n(blas.limit, 0, __ATOMIC_SEQ_CST);
}

static void end_limit(void)
{
    if (!blas.put) return;
    take_limit();
    if (--blas.limit[1] == 0) blas.put((int)blas.limit[2]);
    __atomic_store_n(blas.limit, 0, __ATOMIC_SEQ_CST);
}

/* Let no thread change the number of threads while the process forks: the child would wait for OpenBLAS's lock. */
static void hold_limit(void)
{
    if (blas.put) take_limit();
}

static void free_limit(void)
{
    if (blas.put) __atomic_store_n(blas.limit, 0, __ATOMIC_SEQ_CST);
}

/* ---- The products -------------------------------------------------------------------------------------------- */

typedef struct {
    const Sizes *sizes;
    char *a, *b, *c;
    int64_t rows, columns, across, grid; /* of one part; the parts of a row, and of a matrix */
} Product;

#define LEAD(size) ((size) > 0 ? (size) : 1) /* BLAS takes no 0 */
#define CALL(factor, whole, one, zero)                                                                            \
    ((void (*)(int, int, int, whole, whole, whole, factor, const void *, whole, const void *, whole, factor,      \
               void *, whole))blas.gemm[s->kind])(101, (int)s->a_flag, (int)s->b_flag, (whole)m, (whole)n,        \
                                                  (whole)s->k, one, a, (whole)LEAD(s->a_lead), b,                 \
                                                  (whole)LEAD(s->b_lead), zero, c, (whole)s->c_lead)
#define MULTIPLY(factor, one, zero)                                                                               \
    (blas.bits == 64 ? CALL(factor, int64_t, one, zero) : CALL(factor, int32_t, one, zero))

#define CALL_VECTOR(factor, whole)                                                                                \
    ((void (*)(int, int, whole, whole, factor, const void *, whole, const void *, whole, factor, void *,          \
               whole))blas.gemv[s->kind])(101, 111 + is_turned, (whole)(is_turned ? s->k : size),                 \
                                          (whole)(is_turned ? size : s->k), 1, matrix, (whole)LEAD(lead), vector, \
                                          (whole)LEAD(step), 0, c, (whole)(is_row ? 1 : s->c_lead))

/* GEMV leaves a result alone if there is nothing to add, so `k` must not be 0. */
static int has_vector(const Sizes *s)
{
    return s->kind <= DOUBLE && blas.gemv[s->kind] != NULL && s->k > 0 && (s->m == 1 || s->n == 1);
}

/* Multiply a row by the second matrix, or the first matrix by a column. */
static void multiply_vector(const Sizes *s, int64_t m, int64_t n, const char *a, const char *b, char *c)
{
    int is_row = s->m == 1;
    const char *matrix = is_row ? b : a, *vector = is_row ? a : b;
    int64_t size = is_row ? n : m, lead = is_row ? s->b_lead : s->a_lead;
    int is_turned = is_row == ((is_row ? s->b_flag : s->a_flag) == 111);
    int64_t step = is_row ? (s->a_flag == 111 ? 1 : s->a_lead) : (s->b_flag == 111 ? s->b_lead : 1);
    if (s->kind == SINGLE && blas.bits == 64) CALL_VECTOR(float, int64_t);
    else if (s->kind == SINGLE) CALL_VECTOR(float, int32_t);
    else if (blas.bits == 64) CALL_VECTOR(double, int64_t);
    else CALL_VECTOR(double, int32_t);
}

static void compute(void *around, int64_t number, int64_t end)
{
    static const float ones[] = {1, 0}, zeros[] = {0, 0};
    static const double double_ones[] = {1, 0}, double_zeros[] = {0, 0};
    const Product *p = around;
    const Sizes *s = p->sizes;
    for (; number < end; number++) {
        int64_t outer = number / p->grid / s->inner, inner = number / p->grid % s->inner, place = number % p->grid;
        int64_t row = place / p->across * p->rows, column = place % p->across * p->columns, bytes = BYTES[s->kind];
        int64_t m = s->m - row < p->rows ? s->m - row : p->rows;
        int64_t n = s->n - column < p->columns ? s->n - column : p->columns;
        char *a = p->a + (outer * s->a_outer + inner * s->a_inner + row * s->a_row) * bytes;
        char *b = p->b + (outer * s->b_outer + inner * s->b_inner + column * s->b_column) * bytes;
        char *c = p->c + (outer * s->c_outer + inner * s->c_inner + row * s->c_lead + column) * bytes;
        if (has_vector(s)) {
            multiply_vector(s, m, n, a, b, c);
            continue;
        }
        switch ((enum Kind)s->kind) {
        case SINGLE: MULTIPLY(float, 1, 0); break;
        case DOUBLE: MULTIPLY(double, 1, 0); break;
        case COMPLEX: MULTIPLY(const void *, ones, zeros); break;
        case DOUBLE_COMPLEX: MULTIPLY(const void *, double_ones, double_zeros); break;
        }
    }
}

static int bits_of(int64_t number) { return number ? 64 - __builtin_clzll((uint64_t)number) : 0; }

/* Halve the longer side of the parts. Their number grows with the cube root of the work. */
static void divide(Product *p, int64_t total)
{
    const Sizes *s = p->sizes;
    int surplus = bits_of(total) - 19, wanted = (surplus > 0 ? surplus : 0) / 3 - (bits_of(s->count) - 1);
    int is_few = s->m <= FEW || s->n <= FEW;
    for (; wanted > 0 || (is_few && p->rows * p->columns * s->k > UNPACKED); wanted--) {
        int64_t longer = p->rows > p->columns ? p->rows : p->columns;
        if (longer <= 32) break;
        *(p->rows > p->columns ? &p->rows : &p->columns) = (longer / 2 + 15) & -16;
    }
}

/* Compute all products of a batch. If the threads of BLAS cannot be limited, each is one call that may use them all. */
static void compute_all(char *a, char *b, char *c, const Sizes *s)
{
    Product p = {s, a, b, c, s->m, s->n, 0, 0};
    int64_t total = s->m * s->n * s->k * s->count;
    if (s->m * s->n * s->count == 0) return;
    if (blas.put) divide(&p, total);
    p.across = (s->n + p.columns - 1) / p.columns;
    p.grid = (s->m + p.rows - 1) / p.rows * p.across;
    int64_t parts = p.grid * s->count;
    int is_limited = p.rows * p.columns * s->k > (has_vector(s) ? VECTOR : SHARED);
    if (is_limited) begin_limit();
    if (blas.put && total >= SHARED && parts > 1 && s->threads > 1)
        run_parts(compute, &p, parts, s->threads, s->is_repeated || total >= WAKES);
    else
        compute(&p, 0, parts);
    if (is_limited) end_limit();
}

/* ---- The arrays ---------------------------------------------------------------------------------------------- */

static int is_usable(PyObject *object, int type)
{
    if (!PyArray_CheckExact(object)) return 0;
    PyArrayObject *x = (PyArrayObject *)object;
    return PyArray_TYPE(x) == type && PyArray_NDIM(x) >= 2 && PyArray_NDIM(x) <= 4 && PyArray_ISALIGNED(x)
           && PyArray_ISNOTSWAPPED(x);
}

/* Set how BLAS reads the matrices at the end of an array; 0 if it cannot. */
static int read_layout(PyArrayObject *x, int64_t *flag, int64_t *stored, int64_t *outer, int64_t *inner)
{
    int rank = PyArray_NDIM(x);
    npy_intp size = PyArray_ITEMSIZE(x), rows = PyArray_DIM(x, rank - 2), columns = PyArray_DIM(x, rank - 1);
    npy_intp down = PyArray_STRIDE(x, rank - 2), along = PyArray_STRIDE(x, rank - 1);
    int is_turned = !((along == size || columns == 1) && (down >= columns * size || rows == 1));
    if (is_turned && !((down == size || rows == 1) && (along >= rows * size || columns == 1))) return 0;
    npy_intp shorter = is_turned ? rows : columns, lead = is_turned ? along : down;
    npy_intp far = rank > 3 && PyArray_DIM(x, 0) > 1 ? PyArray_STRIDE(x, 0) : 0;
    npy_intp near = rank > 2 && PyArray_DIM(x, rank - 3) > 1 ? PyArray_STRIDE(x, rank - 3) : 0;
    if ((is_turned ? columns : rows) == 1) lead = shorter * size;
    if (lead % size || lead / size > INT32_MAX || far % size || near % size) return 0;
    *flag = 111 + is_turned;
    *stored = lead / size;
    *outer = far / size;
    *inner = near / size;
    return 1;
}

static int overlaps(PyArrayObject *x, PyArrayObject *out)
{
    char *low = PyArray_DATA(x), *high = low + PyArray_ITEMSIZE(x), *begin = PyArray_DATA(out);
    for (int i = 0; i < PyArray_NDIM(x); i++) {
        npy_intp reach = (PyArray_DIM(x, i) - 1) * PyArray_STRIDE(x, i);
        *(reach < 0 ? &low : &high) += reach;
    }
    return low < begin + PyArray_NBYTES(out) && begin < high;
}

/* Set the shape of the result. Return its rank, or 0 for shapes that do not fit, or that are left to NumPy. */
static int broadcast(PyArrayObject *a, PyArrayObject *b, npy_intp *shape)
{
    int left = PyArray_NDIM(a), right = PyArray_NDIM(b), rank = left > right ? left : right;
    for (int i = 0; i < rank - 2; i++) {
        npy_intp x = i < rank - left ? 1 : PyArray_DIM(a, i - (rank - left));
        npy_intp y = i < rank - right ? 1 : PyArray_DIM(b, i - (rank - right));
        if (x != y && x != 1 && y != 1) return 0;
        shape[i] = x == 1 ? y : x;
    }
    shape[rank - 2] = PyArray_DIM(a, left - 2);
    shape[rank - 1] = PyArray_DIM(b, right - 1);
    for (int i = 0; i < rank; i++)
        if (shape[i] > INT32_MAX) return 0;
    return PyArray_DIM(a, left - 1) == PyArray_DIM(b, right - 2) && PyArray_DIM(a, left - 1) <= INT32_MAX ? rank : 0;
}

/* One matrix for a batch whose rows are evenly apart multiplies all rows as those of one matrix. */
static void join_rows(Sizes *s)
{
    int64_t rows = s->m * s->a_lead;
    if (s->b_outer || s->b_inner || s->a_flag != 111 || s->m * s->count > INT32_MAX) return;
    if ((s->inner > 1 && s->a_inner != rows) || (s->count > s->inner && s->a_outer != rows * s->inner)) return;
    s->m *= s->count;
    s->count = s->inner = 1;
}

/* Return a reference to the array of the result, to `given` if there is one; NULL without an error if it is unfit. */
static PyArrayObject *result_array(PyObject *given, PyArrayObject *a, PyArrayObject *b, int rank, npy_intp *shape)
{
    PyArrayObject *c = (PyArrayObject *)given;
    int type = PyArray_TYPE(a);
    if (given == Py_None) return (PyArrayObject *)PyArray_SimpleNew(rank, shape, type);
    if (!is_usable(given, type) || !PyArray_IS_C_CONTIGUOUS(c) || !PyArray_ISWRITEABLE(c)) return NULL;
    if (PyArray_NDIM(c) != rank || !PyArray_CompareLists(PyArray_DIMS(c), shape, rank)) return NULL;
    if (overlaps(a, c) || overlaps(b, c)) return NULL;
    Py_INCREF(c);
    return c;
}

static PyObject *multiply(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 4) return PyErr_Format(PyExc_TypeError, "multiply takes 4 arguments, not %zd", count);
    int type = PyArray_CheckExact(arguments[0]) ? PyArray_TYPE((PyArrayObject *)arguments[0]) : -1;
    Sizes s = {.kind = type == NPY_DOUBLE ? DOUBLE : SINGLE, .threads = PyLong_AsLong(arguments[3])};
    if (s.threads == -1 && PyErr_Occurred()) return NULL;
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || blas.gemm[s.kind] == NULL) Py_RETURN_NONE;
    if (!is_usable(arguments[0], type) || !is_usable(arguments[1], type)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)arguments[0], *b = (PyArrayObject *)arguments[1];
    npy_intp shape[4];
    int rank = broadcast(a, b, shape);
    if (!rank || !read_layout(a, &s.a_flag, &s.a_lead, &s.a_outer, &s.a_inner)) Py_RETURN_NONE;
    if (!read_layout(b, &s.b_flag, &s.b_lead, &s.b_outer, &s.b_inner)) Py_RETURN_NONE;
    s.m = shape[rank - 2], s.n = shape[rank - 1], s.k = PyArray_DIM(a, PyArray_NDIM(a) - 1);
    s.inner = rank > 2 ? shape[rank - 3] : 1;
    s.count = rank > 3 ? shape[0] * s.inner : s.inner;
    if (s.count == 0 || s.k == 0 || s.m <= 1 || s.n <= 1) Py_RETURN_NONE; /* vectors have functions of their own */
    PyArrayObject *c = result_array(arguments[2], a, b, rank, shape);
    if (c == NULL && PyErr_Occurred()) return NULL;
    if (c == NULL) Py_RETURN_NONE;
    s.a_row = s.a_flag == 111 ? s.a_lead : 1, s.b_column = s.b_flag == 111 ? 1 : s.b_lead;
    s.c_lead = s.n, s.c_inner = s.m * s.n, s.c_outer = s.c_inner * s.inner;
    Py_BEGIN_ALLOW_THREADS
    join_rows(&s);
    compute_all(PyArray_DATA(a), PyArray_DATA(b), PyArray_DATA(c), &s);
    Py_END_ALLOW_THREADS
    return (PyObject *)c;
}

static PyObject *bind(PyObject *module, PyObject *arguments)
{
    unsigned long long gemm[4], gemv[2], get, put, limit;
    if (!PyArg_ParseTuple(arguments, "KKKKKKiKKK", gemm, gemm + 1, gemm + 2, gemm + 3, gemv, gemv + 1, &blas.bits,
                          &get, &put, &limit))
        return NULL;
    for (int kind = 0; kind < 4; kind++) blas.gemm[kind] = (void *)(uintptr_t)gemm[kind];
    for (int kind = 0; kind < 2; kind++) blas.gemv[kind] = (void *)(uintptr_t)gemv[kind];
    blas.get = (int (*)(void))(uintptr_t)get;
    blas.put = (void (*)(int))(uintptr_t)put;
    blas.limit = (int64_t *)(uintptr_t)limit;
    Py_RETURN_NONE;
}

static PyObject *addresses(PyObject *module, PyObject *nothing)
{
    return Py_BuildValue("{sKsKsKsKsKsK}", "run_parts", (unsigned long long)(uintptr_t)run_parts,
                         "multiply", (unsigned long long)(uintptr_t)compute_all,
                         "begin_limit", (unsigned long long)(uintptr_t)begin_limit,
                         "end_limit", (unsigned long long)(uintptr_t)end_limit,
                         "end_threads", (unsigned long long)(uintptr_t)end_threads,
                         "allow_threads", (unsigned long long)(uintptr_t)allow_threads);
}

static PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS,
     "bind(sgemm, dgemm, cgemm, zgemm, sgemv, dgemv, bits, get, put, limit)\n--\n\nSet the addresses of BLAS."},
    {"addresses", addresses, METH_NOARGS, "addresses()\n--\n\nReturn those of the functions for compiled code."},
    {"multiply", (PyCFunction)(void (*)(void))multiply, METH_FASTCALL,
     "multiply(a, b, out, threads)\n--\n\nReturn the product; None for arrays that are left to NumPy."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_products", "Matrix products by BLAS, in parts that threads share.", -1, functions,
};

static void begin_process(void)
{
    pthread_atfork(hold_limit, free_limit, free_limit); /* runs after `end_threads`, since it is registered before */
    begin_once();
}

PyMODINIT_FUNC PyInit__native_products(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    import_array();
    pthread_once(&once, begin_process);
    return PyModule_Create(&definition);
}

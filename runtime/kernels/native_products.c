/* Matrix products by BLAS, in parts that a pool of threads shares: an optional extension module.

              columns
         ┌──┬──┬──┬──┐      multiply(a, b, None, 2)
    rows │ 0│ 1│ 2│ 3│          parts ← halve the longer side until they are small enough
         ├──┼──┼──┼──┤          limit BLAS to one thread
         │ 4│ 5│ 6│ 7│          run the parts of all matrices, here and in one more thread
         └──┴──┴──┴──┘

   The parts are those of native code (executors/llvm/lowering/blas_parts_ir.py), and so are the last bits. An idle
   thread spins for some microseconds, and then sleeps. No caller waits for a thread that has not begun. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define SHARED (1 << 18)   /* multiplications up to which OpenBLAS uses one thread */
#define WAKES (1 << 21)    /* multiplications from which sleeping threads are woken */
#define FEW 48             /* rows up to which parts are as small as UNPACKED */
#define UNPACKED 1000000   /* multiplications up to which OpenBLAS packs nothing */
#define SPINS 1500         /* polls of an idle thread, about 30 microseconds, before it sleeps */
#define MOST 64            /* threads */
#define PATIENCE 50000     /* nanoseconds of waiting, beyond twice the own work, that show a busy machine, */
#define ABSENCE 16         /* and how many times as long products are computed without threads then */

#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define PAUSE() __asm__ __volatile__("isb")
#else
#define PAUSE()
#endif

/* ---- The library --------------------------------------------------------------------------------------------- */

static struct {
    void *gemm[2]; /* of float32 and float64 */
    int bits;      /* of its integers */
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

static void begin_limit(void)
{
    take_limit();
    if (blas.limit[1]++ == 0) {
        blas.limit[2] = blas.get();
        blas.put(1);
    }
    __atomic_store_n(blas.limit, 0, __ATOMIC_SEQ_CST);
}

static void end_limit(void)
{
    take_limit();
    if (--blas.limit[1] == 0) blas.put((int)blas.limit[2]);
    __atomic_store_n(blas.limit, 0, __ATOMIC_SEQ_CST);
}

/* ---- The products -------------------------------------------------------------------------------------------- */

typedef struct {
    char *data;
    int is_turned;
    int64_t lead, step;     /* elements between stored rows, and between the parts' first elements */
    int64_t outer, inner;   /* bytes between the matrices of a batch */
} Factor;

typedef struct {
    int is_double;
    int64_t m, n, k, count, inner; /* `count` products, in groups of `inner` */
    Factor a, b, c;
    int64_t rows, columns, across, grid; /* of one part; the parts of a row, and of a matrix */
    int64_t parts;
    _Atomic int64_t next;
    int helpers; /* the most threads that may join the caller */
} Product;

#define CALL(real, whole)                                                                                        \
    ((void (*)(int, int, int, whole, whole, whole, real, const void *, whole, const void *, whole, real, void *, \
               whole))blas.gemm[p->is_double])(101, 111 + p->a.is_turned, 111 + p->b.is_turned, (whole)m,        \
                                               (whole)n, (whole)p->k, 1, a, (whole)p->a.lead, b,                 \
                                               (whole)p->b.lead, 0, c, (whole)p->c.lead)

static char *matrix(const Factor *f, int64_t outer, int64_t inner) { return f->data + outer * f->outer + inner * f->inner; }

static void compute(Product *p, int64_t number)
{
    int64_t size = p->is_double ? 8 : 4, which = number / p->grid, place = number % p->grid;
    int64_t outer = which / p->inner, inner = which % p->inner;
    int64_t row = place / p->across * p->rows, column = place % p->across * p->columns;
    int64_t m = p->m - row < p->rows ? p->m - row : p->rows, n = p->n - column < p->columns ? p->n - column : p->columns;
    char *a = matrix(&p->a, outer, inner) + row * p->a.step * size;
    char *b = matrix(&p->b, outer, inner) + column * p->b.step * size;
    char *c = matrix(&p->c, outer, inner) + (row * p->c.lead + column) * size;
    if (p->is_double && blas.bits == 64) CALL(double, int64_t);
    else if (p->is_double) CALL(double, int32_t);
    else if (blas.bits == 64) CALL(float, int64_t);
    else CALL(float, int32_t);
}

static void compute_all(Product *p)
{
    for (int64_t i; (i = atomic_fetch_add(&p->next, 1)) < p->parts;) compute(p, i);
}

static int bits_of(int64_t number) { return number ? 64 - __builtin_clzll((uint64_t)number) : 0; }

/* Halve the longer side of the parts. Their number grows with the cube root of the work. */
static void divide(Product *p)
{
    int64_t total = p->m * p->n * p->k * p->count, rows = p->m, columns = p->n;
    int surplus = bits_of(total) - 19, wanted = (surplus > 0 ? surplus : 0) / 3 - (bits_of(p->count) - 1);
    int is_few = p->m <= FEW || p->n <= FEW;
    for (; wanted > 0 || (is_few && rows * columns * p->k > UNPACKED); wanted--) {
        int64_t longer = rows > columns ? rows : columns;
        if (longer <= 32) break;
        *(rows > columns ? &rows : &columns) = (longer / 2 + 15) & -16;
    }
    p->rows = rows, p->columns = columns;
    p->across = (p->n + columns - 1) / columns;
    p->grid = (p->m + rows - 1) / rows * p->across;
    p->parts = p->grid * p->count;
}

/* ---- The threads --------------------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock, caller; /* `caller` is held by the thread whose product is computed */
    pthread_cond_t call, done;
    _Atomic uint64_t calls;
    Product *product; /* that threads may join */
    _Atomic int active;
    int threads, sleepers;
    int64_t alone; /* the time until which products are computed without threads; with `caller` */
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

static void *serve(void *seen_at_start)
{
    uint64_t seen = (uint64_t)(uintptr_t)seen_at_start;
    for (;;) {
        for (int i = 0; i < SPINS && atomic_load(&pool.calls) == seen; i++) PAUSE();
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.calls) == seen) {
            pool.sleepers++;
            pthread_cond_wait(&pool.call, &pool.lock);
            pool.sleepers--;
        }
        seen = atomic_load(&pool.calls);
        Product *p = pool.product;
        if (p != NULL && pool.active >= p->helpers) p = NULL;
        if (p != NULL) pool.active++;
        pthread_mutex_unlock(&pool.lock);
        if (p == NULL) continue;
        compute_all(p);
        pthread_mutex_lock(&pool.lock);
        if (--pool.active == 0) pthread_cond_signal(&pool.done);
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* Start threads until there are enough; with the lock. They get no signals. */
static void grow(int wanted)
{
    sigset_t all, before;
    if (pool.threads >= wanted) return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pthread_t thread; pool.threads < wanted; pool.threads++) {
        if (pthread_create(&thread, NULL, serve, (void *)(uintptr_t)atomic_load(&pool.calls))) break;
        pthread_detach(thread);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Compute the parts with the pool. A thread that has claimed a part may have lost its processor to another program. So
   after a long wait, no threads join for a while. */
static void share(Product *p, int64_t total)
{
    int64_t start = now();
    if (start < pool.alone) {
        compute_all(p);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    grow(p->helpers);
    pool.product = p;
    pool.calls++;
    if (pool.sleepers && total >= WAKES) pthread_cond_broadcast(&pool.call);
    pthread_mutex_unlock(&pool.lock);
    compute_all(p);
    int64_t worked = now();
    pthread_mutex_lock(&pool.lock);
    pool.product = NULL;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < SPINS && atomic_load(&pool.active); i++) PAUSE();
    pthread_mutex_lock(&pool.lock);
    while (pool.active) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    int64_t waited = now() - worked;
    if (waited > 2 * (worked - start) + PATIENCE) pool.alone = worked + (1 + ABSENCE) * waited;
}

static void run(Product *p, int64_t total)
{
    if (p->helpers < 1 || p->parts < 2 || total < SHARED || pthread_mutex_trylock(&pool.caller)) {
        compute_all(p);
        return;
    }
    share(p, total);
    pthread_mutex_unlock(&pool.caller);
}

/* A forked process has no threads, and locks that nobody will release. */
static void forget(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pthread_mutex_init(&pool.caller, NULL);
    pthread_cond_init(&pool.call, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.product = NULL;
    pool.active = 0;
    pool.threads = pool.sleepers = 0;
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
static int read_layout(PyArrayObject *x, int is_left, Factor *f)
{
    int rank = PyArray_NDIM(x);
    npy_intp size = PyArray_ITEMSIZE(x), rows = PyArray_DIM(x, rank - 2), columns = PyArray_DIM(x, rank - 1);
    npy_intp down = PyArray_STRIDE(x, rank - 2), along = PyArray_STRIDE(x, rank - 1);
    f->data = PyArray_DATA(x);
    f->is_turned = !((along == size || columns == 1) && (down >= columns * size || rows == 1));
    if (f->is_turned && !((down == size || rows == 1) && (along >= rows * size || columns == 1))) return 0;
    npy_intp shorter = f->is_turned ? rows : columns, lead = f->is_turned ? along : down;
    if ((f->is_turned ? columns : rows) == 1) lead = shorter * size;
    if (lead % size || lead / size > INT32_MAX) return 0;
    f->lead = lead / size;
    f->step = is_left == f->is_turned ? 1 : f->lead;
    f->outer = rank > 3 && PyArray_DIM(x, 0) > 1 ? PyArray_STRIDE(x, 0) : 0;
    f->inner = rank > 2 && PyArray_DIM(x, rank - 3) > 1 ? PyArray_STRIDE(x, rank - 3) : 0;
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
static void join_rows(Product *p)
{
    int64_t size = p->is_double ? 8 : 4, rows = p->m * p->a.lead * size;
    if (p->b.outer || p->b.inner || p->a.is_turned || p->m * p->count > INT32_MAX) return;
    if ((p->inner > 1 && p->a.inner != rows) || (p->count > p->inner && p->a.outer != rows * p->inner)) return;
    p->m *= p->count;
    p->count = p->inner = 1;
}

static PyObject *multiply(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 4) return PyErr_Format(PyExc_TypeError, "multiply takes 4 arguments, not %zd", count);
    PyObject *out = arguments[2];
    int type = PyArray_CheckExact(arguments[0]) ? PyArray_TYPE((PyArrayObject *)arguments[0]) : -1;
    long threads = PyLong_AsLong(arguments[3]);
    if (threads == -1 && PyErr_Occurred()) return NULL;
    Product p = {.is_double = type == NPY_DOUBLE, .helpers = (int)(threads > MOST ? MOST : threads) - 1};
    if ((type != NPY_FLOAT && type != NPY_DOUBLE) || blas.gemm[p.is_double] == NULL) Py_RETURN_NONE;
    if (!is_usable(arguments[0], type) || !is_usable(arguments[1], type)) Py_RETURN_NONE;
    PyArrayObject *a = (PyArrayObject *)arguments[0], *b = (PyArrayObject *)arguments[1], *c;
    npy_intp shape[4];
    int rank = broadcast(a, b, shape);
    if (!rank || !read_layout(a, 1, &p.a) || !read_layout(b, 0, &p.b)) Py_RETURN_NONE;
    if (out == Py_None) {
        c = (PyArrayObject *)PyArray_SimpleNew(rank, shape, type);
        if (c == NULL) return NULL;
    } else {
        c = (PyArrayObject *)out;
        if (!is_usable(out, type) || !PyArray_IS_C_CONTIGUOUS(c) || !PyArray_ISWRITEABLE(c)) Py_RETURN_NONE;
        if (PyArray_NDIM(c) != rank || !PyArray_CompareLists(PyArray_DIMS(c), shape, rank)) Py_RETURN_NONE;
        if (overlaps(a, c) || overlaps(b, c)) Py_RETURN_NONE;
        Py_INCREF(c);
    }
    p.m = shape[rank - 2], p.n = shape[rank - 1], p.k = PyArray_DIM(a, PyArray_NDIM(a) - 1);
    p.inner = rank > 2 ? shape[rank - 3] : 1;
    p.count = rank > 3 ? shape[0] * p.inner : p.inner;
    int64_t bytes = p.m * p.n * PyArray_ITEMSIZE(c);
    p.c = (Factor){PyArray_DATA(c), 0, p.n, 0, bytes * p.inner, bytes};
    if (PyArray_SIZE(c) == 0 || p.k == 0 || p.m == 1 || p.n == 1) { /* products with vectors have functions of their own */
        Py_DECREF(c);
        Py_RETURN_NONE;
    }
    Py_BEGIN_ALLOW_THREADS
    join_rows(&p);
    divide(&p);
    begin_limit();
    run(&p, p.m * p.n * p.k * p.count);
    end_limit();
    Py_END_ALLOW_THREADS
    return (PyObject *)c;
}

static PyObject *bind(PyObject *module, PyObject *arguments)
{
    unsigned long long single, twice, get, put, limit;
    if (!PyArg_ParseTuple(arguments, "KKiKKK", &single, &twice, &blas.bits, &get, &put, &limit)) return NULL;
    blas.gemm[0] = (void *)(uintptr_t)single;
    blas.gemm[1] = (void *)(uintptr_t)twice;
    blas.get = (int (*)(void))(uintptr_t)get;
    blas.put = (void (*)(int))(uintptr_t)put;
    blas.limit = (int64_t *)(uintptr_t)limit;
    return Py_BuildValue("KK", (unsigned long long)(uintptr_t)begin_limit, (unsigned long long)(uintptr_t)end_limit);
}

static PyMethodDef functions[] = {
    {"bind", bind, METH_VARARGS,
     "bind(sgemm, dgemm, bits, get, put, limit)\n--\n\nSet the addresses of BLAS. Return those that limit it."},
    {"multiply", (PyCFunction)(void (*)(void))multiply, METH_FASTCALL,
     "multiply(a, b, out, threads)\n--\n\nReturn the product; None for arrays that are left to NumPy."},
    {NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native_products", "Matrix products by BLAS, in parts that threads share.", -1, functions,
};

PyMODINIT_FUNC PyInit__native_products(void)
{
    import_array();
    pthread_atfork(NULL, NULL, forget);
    return PyModule_Create(&definition);
}

/* Transforms of blocks of lines in one precision: native_fourier.c includes this for `number` float, and for double.

   Buffers have a row of LANES real parts, or of imaginary ones, for each element of the lines. */

#define LANES (LINE / (int)sizeof(number))
#define CHUNK 16 /* elements of lines that are not adjacent, which are loaded or stored together */

typedef number NAME(vector) __attribute__((vector_size(VECTOR)));

typedef struct {
    number *re, *im;
} NAME(Buffer);

/* Store output `j` of a step, multiplied by its root. */
#define PUT(j, real, imaginary)                            \
    {                                                      \
        NAME(vector) re = (real), im = (imaginary);        \
        yr[(j) * width + q] = re * wr[j] - im * wi[j];     \
        yi[(j) * width + q] = re * wi[j] + im * wr[j];     \
    }

#define GET(name, j) NAME(vector) name##r = xr[(j) * apart + q], name##i = xi[(j) * apart + q];

/* One step of radix `r`; `done` is the product of the radices before it. */
static inline ALWAYS void NAME(step)(const Work *g, int r, npy_intp done, NAME(Buffer) x, NAME(Buffer) y)
{
    npy_intp count = g->size / done / r, width = done * (LINE / VECTOR), apart = count * width;
    const number *roots = g->roots;
    const NAME(vector) *xr = (NAME(vector) *)x.re, *xi = (NAME(vector) *)x.im;
    NAME(vector) *yr = (NAME(vector) *)y.re, *yi = (NAME(vector) *)y.im;
    number cosine[7], sine[7];
    for (int j = 0; j < r; j++) {
        npy_intp at = 2 * g->unit * (g->size / r) * j;
        cosine[j] = roots[at], sine[j] = roots[at + 1];
    }
    for (npy_intp p = 0; p < count; p++, xr += width, xi += width, yr += r * width, yi += r * width) {
        number wr[7], wi[7];
        for (int j = 0; j < r; j++) {
            npy_intp at = 2 * g->unit * done * p * j;
            wr[j] = roots[at], wi[j] = roots[at + 1];
        }
        for (npy_intp q = 0; q < width; q++) {
            GET(a, 0) GET(b, 1)
            (void)br, (void)bi;
            if (r == 2) {
                PUT(0, ar + br, ai + bi)
                PUT(1, ar - br, ai - bi)
            } else if (r == 4) {
                GET(c, 2) GET(d, 3)
                NAME(vector) sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;
                NAME(vector) ur = br + dr, ui = bi + di, vr = br - dr, vi = bi - di;
                PUT(0, sr + ur, si + ui)
                PUT(1, tr + vi, ti - vr)
                PUT(2, sr - ur, si - ui)
                PUT(3, tr - vi, ti + vr)
            } else {
                NAME(vector) sr[4], si[4], dr[4], di[4], wholer = ar, wholei = ai;
                for (int k = 1; k <= r / 2; k++) {
                    GET(f, k) GET(l, r - k)
                    sr[k] = fr + lr, si[k] = fi + li, dr[k] = fr - lr, di[k] = fi - li;
                    wholer += sr[k], wholei += si[k];
                }
                PUT(0, wholer, wholei)
                for (int j = 1; j <= r / 2; j++) {
                    NAME(vector) mr = ar, mi = ai, tr = ar - ar, ti = tr;
                    for (int k = 1; k <= r / 2; k++) {
                        number c = cosine[j * k % r], s = sine[j * k % r];
                        mr += c * sr[k], mi += c * si[k], tr += s * dr[k], ti += s * di[k];
                    }
                    PUT(j, mr - ti, mi + tr)
                    PUT(r - j, mr + ti, mi - tr)
                }
            }
        }
    }
}

/* Combine elements `k` and `size - k`: the spectra of the even and of the odd numbers into that of all, or back. */
static inline ALWAYS void NAME(combine)(const Work *g, NAME(Buffer) x, NAME(Buffer) y)
{
    int is_back = g->kind == REAL_INVERSE;
    const number *roots = g->roots;
    for (npy_intp k = 0; k < g->size + !is_back; k++) {
        npy_intp here = (is_back ? k : k % g->size) * LANES, there = (g->size - k) % (g->size + is_back) * LANES;
        const number *hr = x.re + here, *hi = x.im + here, *tr = x.re + there, *ti = x.im + there;
        number *restrict yr = y.re + k * LANES, *restrict yi = y.im + k * LANES;
        number wr = is_back ? -roots[2 * k] : roots[2 * k], wi = roots[2 * k + 1], scale = is_back ? 1 : (number)0.5;
        for (int q = 0; q < LANES; q++) {
            number sr = hr[q] + tr[q], si = hi[q] - ti[q], dr = hr[q] - tr[q], di = hi[q] + ti[q];
            yr[q] = scale * (sr + (wr * di + wi * dr));
            yi[q] = scale * (si - (wr * dr - wi * di));
        }
    }
}

/* Take the elements of lines apart, or put them together: real and imaginary parts, or even and odd numbers. */
#define MOVE(first, second)                                                                            \
    for (npy_intp k = 0; are_adjacent && k < count; k++) {                                              \
        npy_intp at = parts * places[0] + k * step, row = k * LANES;                                    \
        for (int q = 0; q < LANES; q++) {                                                               \
            first;                                                                                      \
            second;                                                                                     \
        }                                                                                               \
    }                                                                                                   \
    for (npy_intp start = 0; !are_adjacent && start < count; start += CHUNK)                            \
        for (int q = 0; q < lanes; q++) {                                                               \
            npy_intp end = start + CHUNK < count ? start + CHUNK : count;                               \
            for (npy_intp k = start; k < end; k++) {                                                    \
                npy_intp at = parts * (places[q] - q) + k * step, row = k * LANES;                      \
                first;                                                                                  \
                second;                                                                                 \
            }                                                                                           \
        }

static inline ALWAYS void NAME(take_apart)(
    const number *restrict x, number *restrict re, number *restrict im, const npy_intp *places, npy_intp count,
    npy_intp step, int parts, npy_intp other, int are_adjacent)
{
    int lanes = LANES;
    MOVE(re[row + q] = x[at + parts * q], im[row + q] = x[at + parts * q + other])
}

static inline ALWAYS void NAME(put_together)(
    number *restrict y, const number *restrict re, const number *restrict im, const npy_intp *places, npy_intp count,
    npy_intp step, int parts, npy_intp other, int are_adjacent, int lanes, number scale)
{
    MOVE(y[at + parts * q] = scale * re[row + q], y[at + parts * q + other] = scale * im[row + q])
}

/* Load the lines that begin at `from`, and zeros after their ends. */
static inline ALWAYS void NAME(load)(const Work *g, const npy_intp *from, int are_adjacent, NAME(Buffer) b)
{
    npy_intp step = 2 * g->inner, whole = g->kind == REAL ? g->given / 2 : g->given;
    npy_intp end = g->size + (g->kind == REAL_INVERSE);
    const number *x = g->x;
    if (g->kind == REAL)
        NAME(take_apart)(x, b.re, b.im, from, whole, step, 1, g->inner, are_adjacent);
    else
        NAME(take_apart)(x, b.re, b.im, from, whole, step, 2, 1, are_adjacent);
    memset(b.re + whole * LANES, 0, (size_t)(end - whole) * LINE);
    memset(b.im + whole * LANES, 0, (size_t)(end - whole) * LINE);
    for (int q = 0; g->kind == REAL && g->given % 2 && q < LANES; q++)
        b.re[whole * LANES + q] = x[from[q] + whole * step];
    if (g->kind == REAL_INVERSE) { /* the imaginary parts of the first element and of the middle do not count */
        memset(b.im, 0, LINE);
        memset(b.im + g->size * LANES, 0, LINE);
    }
}

static inline ALWAYS void NAME(store)(
    const Work *g, const npy_intp *to, int lanes, int are_adjacent, NAME(Buffer) b)
{
    npy_intp step = 2 * g->inner;
    number scale = (number)(1.0 / (double)g->out);
    if (g->kind == REAL_INVERSE)
        NAME(put_together)(g->y, b.re, b.im, to, g->size, step, 1, g->inner, are_adjacent, lanes, scale);
    else
        NAME(put_together)(g->y, b.re, b.im, to, g->out, step, 2, 1, are_adjacent, lanes, g->kind == INVERSE ? scale : 1);
}

#define SWAP(type, a, b)  \
    {                     \
        type before = a;  \
        a = b;            \
        b = before;       \
    }

static inline ALWAYS void NAME(transform_block)(const Work *g, npy_intp block, NAME(Buffer) x, NAME(Buffer) y)
{
    npy_intp from[LANES], to[LANES], left = g->lines - block * LANES;
    int count = left < LANES ? (int)left : LANES, is_back = g->kind == INVERSE || g->kind == REAL_INVERSE;
    for (int q = 0; q < LANES; q++) {
        npy_intp line = block * LANES + (q < count ? q : 0), outer = line / g->inner, column = line % g->inner;
        from[q] = outer * g->pitch + column, to[q] = outer * g->out * g->inner + column;
    }
    int are_adjacent = count == LANES && from[LANES - 1] - from[0] == LANES - 1 && to[LANES - 1] - to[0] == LANES - 1;
    NAME(load)(g, from, are_adjacent, x);
    if (g->kind == REAL_INVERSE) {
        NAME(combine)(g, x, y);
        SWAP(NAME(Buffer), x, y)
    }
    if (is_back) SWAP(number *, x.re, x.im) /* the transform of exchanged parts is the exchanged inverse */
    if (is_back) SWAP(number *, y.re, y.im)
    for (npy_intp done = 1, rest = g->size; rest > 1;) {
        int r = radix_of(rest);
        switch (r) { /* the compiler makes a loop of each */
        case 4: NAME(step)(g, 4, done, x, y); break;
        case 2: NAME(step)(g, 2, done, x, y); break;
        case 3: NAME(step)(g, 3, done, x, y); break;
        case 5: NAME(step)(g, 5, done, x, y); break;
        case 7: NAME(step)(g, 7, done, x, y); break;
        }
        done *= r, rest /= r;
        SWAP(NAME(Buffer), x, y)
    }
    if (is_back) SWAP(number *, x.re, x.im)
    if (g->kind == REAL) {
        NAME(combine)(g, x, y);
        SWAP(NAME(Buffer), x, y)
    }
    NAME(store)(g, to, count, are_adjacent, x);
}

VECTORS static void NAME(transform_blocks)(void *around, int64_t begin, int64_t end)
{
    Work *g = around;
    size_t count = (size_t)(g->size + 1) * LANES;
    char *memory = malloc(4 * count * sizeof(number) + LINE);
    if (memory == NULL) {
        g->has_failed = 1;
        return;
    }
    number *first = (number *)(memory + LINE - (uintptr_t)memory % LINE);
    NAME(Buffer) x = {first, first + count}, y = {first + 2 * count, first + 3 * count};
    for (npy_intp block = begin; block < end; block++) NAME(transform_block)(g, block, x, y);
    free(memory);
}

#undef LANES
#undef CHUNK
#undef MOVE
#undef PUT
#undef GET
#undef SWAP

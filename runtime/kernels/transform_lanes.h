/* Fourier transforms of LANES rows at once, of numbers of type REAL: native_transforms.c includes this file twice.

   A buffer holds the real and the imaginary parts of all rows' elements: [n][2][LANES]. */

#define VECTOR NAMED(Vector)
typedef REAL VECTOR __attribute__((vector_size(32)));

enum { NAMED(LANES) = 32 / sizeof(REAL) };
#define LANES NAMED(LANES)

/* Multiply by a root of unity, and store. The root 1 is no factor: 0 times infinity would be NaN. */
#define PUT(k, r, i)                                                \
    do {                                                            \
        VECTOR re = (r), im = (i);                                  \
        VECTOR *to = y + 2 * (q + s * (radix * p + (k)));           \
        if ((k) == 0 || p == 0) {                                   \
            to[0] = re;                                             \
            to[1] = im;                                             \
        } else {                                                    \
            const REAL *w = roots + 2 * (p * (k) * s * scale);      \
            to[0] = re * w[0] - im * w[1];                          \
            to[1] = re * w[1] + im * w[0];                          \
        }                                                           \
    } while (0)

/* One pass of Stockham's algorithm, which leaves the elements in order, for a `radix` r and m = whole / s / r:

       y[q + s (r p + k)] = w(p k s) * sum_j w(j k s m) x[q + s (p + j m)]      w(a) = exp(-2 pi i a / whole) */
static inline __attribute__((always_inline)) void NAMED(pass)(int radix, npy_intp whole, npy_intp s, npy_intp scale,
                                                              const REAL *roots, const VECTOR *x, VECTOR *y)
{
    npy_intp m = whole / s / radix;
    for (npy_intp p = 0; p < m; p++)
        for (npy_intp q = 0; q < s; q++) {
            VECTOR r[5], i[5];
            for (int j = 0; j < radix; j++) {
                const VECTOR *from = x + 2 * (q + s * (p + j * m));
                r[j] = from[0];
                i[j] = from[1];
            }
            if (radix == 2) {
                PUT(0, r[0] + r[1], i[0] + i[1]);
                PUT(1, r[0] - r[1], i[0] - i[1]);
            } else if (radix == 4) {
                VECTOR ra = r[0] + r[2], rb = r[0] - r[2], rc = r[1] + r[3], rd = r[1] - r[3];
                VECTOR ia = i[0] + i[2], ib = i[0] - i[2], ic = i[1] + i[3], id = i[1] - i[3];
                PUT(0, ra + rc, ia + ic);
                PUT(1, rb + id, ib - rd);
                PUT(2, ra - rc, ia - ic);
                PUT(3, rb - id, ib + rd);
            } else if (radix == 3) {
                const REAL h = (REAL)0.86602540378443864676;
                VECTOR ra = r[1] + r[2], ia = i[1] + i[2], rb = (r[1] - r[2]) * h, ib = (i[1] - i[2]) * h;
                VECTOR rc = r[0] - ra * (REAL)0.5, ic = i[0] - ia * (REAL)0.5;
                PUT(0, r[0] + ra, i[0] + ia);
                PUT(1, rc + ib, ic - rb);
                PUT(2, rc - ib, ic + rb);
            } else {
                const REAL c = (REAL)0.30901699437494742410, d = (REAL)-0.80901699437494742410;
                const REAL e = (REAL)0.95105651629515357212, f = (REAL)0.58778525229247312917;
                VECTOR ra = r[1] + r[4], rb = r[2] + r[3], rc = r[1] - r[4], rd = r[2] - r[3];
                VECTOR ia = i[1] + i[4], ib = i[2] + i[3], ic = i[1] - i[4], id = i[2] - i[3];
                VECTOR r1 = r[0] + ra * c + rb * d, i1 = i[0] + ia * c + ib * d;
                VECTOR r2 = r[0] + ra * d + rb * c, i2 = i[0] + ia * d + ib * c;
                VECTOR u1 = rc * e + rd * f, v1 = ic * e + id * f, u2 = rc * f - rd * e, v2 = ic * f - id * e;
                PUT(0, r[0] + ra + rb, i[0] + ia + ib);
                PUT(1, r1 + v1, i1 - u1);
                PUT(2, r2 + v2, i2 - u2);
                PUT(3, r2 - v2, i2 + u2);
                PUT(4, r1 - v1, i1 + u1);
            }
        }
}

/* Transform [n] complex numbers in `x`, with another buffer; return the one with the result. `roots` has n * scale. */
static inline __attribute__((always_inline)) VECTOR *NAMED(whole)(npy_intp n, npy_intp scale, const REAL *roots,
                                                                  VECTOR *x, VECTOR *y)
{
    for (npy_intp s = 1, rest = n; rest > 1;) {
        int radix = next_radix(rest);
        switch (radix) {
        case 4: NAMED(pass)(4, n, s, scale, roots, x, y); break;
        case 2: NAMED(pass)(2, n, s, scale, roots, x, y); break;
        case 3: NAMED(pass)(3, n, s, scale, roots, x, y); break;
        default: NAMED(pass)(5, n, s, scale, roots, x, y);
        }
        s *= radix;
        rest /= radix;
        VECTOR *other = x;
        x = y;
        y = other;
    }
    return x;
}

/* Turn the transform of even elements + i odd elements into the n + 1 first elements of that of 2 n real ones. */
static inline __attribute__((always_inline)) void NAMED(split)(npy_intp n, const REAL *roots, const VECTOR *x, VECTOR *y)
{
    y[0] = x[0] + x[1];
    y[2 * n] = x[0] - x[1];
    y[1] = y[2 * n + 1] = (VECTOR){0};
    for (npy_intp k = 1; k < n; k++) {
        const VECTOR *a = x + 2 * k, *b = x + 2 * (n - k);
        VECTOR er = (a[0] + b[0]) * (REAL)0.5, ei = (a[1] - b[1]) * (REAL)0.5;
        VECTOR or = (a[1] + b[1]) * (REAL)0.5, oi = (b[0] - a[0]) * (REAL)0.5;
        REAL c = roots[2 * k], d = roots[2 * k + 1];
        y[2 * k] = er + or * c - oi * d;
        y[2 * k + 1] = ei + or * d + oi * c;
    }
}

/* Invert `split`; the result is twice as large, with real and imaginary parts exchanged for the inverse transform. */
static inline __attribute__((always_inline)) void NAMED(join)(npy_intp n, const REAL *roots, const VECTOR *x, VECTOR *y)
{
    y[0] = x[0] - x[2 * n];
    y[1] = x[0] + x[2 * n];
    for (npy_intp k = 1; k < n; k++) {
        const VECTOR *a = x + 2 * k, *b = x + 2 * (n - k);
        VECTOR er = a[0] + b[0], ei = a[1] - b[1], dr = a[0] - b[0], di = a[1] + b[1];
        REAL c = roots[2 * k], d = -roots[2 * k + 1];
        VECTOR or = dr * c - di * d, oi = dr * d + di * c;
        y[2 * k] = ei + or;
        y[2 * k + 1] = er - oi;
    }
}

/* Run `body` for the elements of all rows: for the same elements of adjacent rows, else for a cache line of each row. */
#define EACH(size, count, body)                                                                              \
    do {                                                                                                     \
        if (is_adjacent)                                                                                     \
            for (npy_intp k = 0; k < (count); k++)                                                           \
                for (int lane = 0; lane < LANES; lane++) {                                                   \
                    npy_intp at = (outers[0] * (size) + k) * inner + columns[0] + lane;                     \
                    body;                                                                                    \
                }                                                                                            \
        else                                                                                                 \
            for (npy_intp begin = 0; begin < (count); begin += 8)                                            \
                for (int lane = 0; lane < lanes; lane++)                                                     \
                    for (npy_intp k = begin; k < (count) && k < begin + 8; k++) {                            \
                        npy_intp at = (outers[lane] * (size) + k) * inner + columns[lane];                  \
                        body;                                                                                \
                    }                                                                                        \
    } while (0)

/* Copy the first elements of rows to a buffer; the inverse transform exchanges real and imaginary parts. */
static inline __attribute__((always_inline)) void NAMED(load)(const Transform *t, npy_intp kept, int lanes,
                                                              int is_adjacent, const npy_intp *outers,
                                                              const npy_intp *columns, REAL *restrict p)
{
    const REAL *restrict from = t->from;
    npy_intp inner = t->inner, given = t->given;
    int turn = t->kind == INVERSE;
    if (t->kind == REAL_FORWARD) EACH(given, kept, p[k * LANES + lane] = from[at]);
    else
        EACH(given, kept, {
            p[(2 * k + turn) * LANES + lane] = from[2 * at];
            p[(2 * k + !turn) * LANES + lane] = from[2 * at + 1];
        });
}

/* Copy a buffer to rows. */
static inline __attribute__((always_inline)) void NAMED(store)(const Transform *t, int lanes, int is_adjacent,
                                                               const npy_intp *outers, const npy_intp *columns,
                                                               const REAL *restrict p)
{
    REAL *restrict to = t->to;
    npy_intp n = t->n, inner = t->inner, count = t->kind == REAL_FORWARD ? n + 1 : n;
    const REAL factor = (REAL)(1.0 / (double)(n * t->scale));
    if (t->kind == REAL_INVERSE) EACH(2 * n, 2 * n, to[at] = p[(k ^ 1) * LANES + lane] * factor);
    else if (t->kind == INVERSE)
        EACH(n, n, {
            to[2 * at] = p[(2 * k + 1) * LANES + lane] * factor;
            to[2 * at + 1] = p[2 * k * LANES + lane] * factor;
        });
    else
        EACH(count, count, {
            to[2 * at] = p[2 * k * LANES + lane];
            to[2 * at + 1] = p[(2 * k + 1) * LANES + lane];
        });
}

VECTORS static void NAMED(rows)(const Transform *t, npy_intp first, npy_intp end, void *memory)
{
    VECTOR *x = memory, *y = x + 2 * (t->n + 1);
    npy_intp n = t->n, inner = t->inner;
    npy_intp needed = t->kind == REAL_FORWARD ? 2 * n : t->kind == REAL_INVERSE ? n + 1 : n;
    npy_intp kept = t->given < needed ? t->given : needed;
    const REAL *roots = t->roots;
    for (npy_intp row = first; row < end; row += LANES) {
        int lanes = end - row < LANES ? (int)(end - row) : LANES;
        npy_intp outers[LANES], columns[LANES];
        for (int lane = 0; lane < lanes; lane++) {
            outers[lane] = (row + lane) / inner;
            columns[lane] = (row + lane) % inner;
        }
        int is_adjacent = lanes == LANES && columns[0] + LANES <= inner;
        if (kept < needed || lanes < LANES) memset(x, 0, 2 * (n + 1) * sizeof *x);
        NAMED(load)(t, kept, lanes, is_adjacent, outers, columns, (REAL *)x);
        VECTOR *result;
        if (t->kind == REAL_INVERSE) {
            NAMED(join)(n, roots, x, y);
            result = NAMED(whole)(n, 2, roots, y, x);
        } else
            result = NAMED(whole)(n, t->scale, roots, x, y);
        if (t->kind == REAL_FORWARD) {
            VECTOR *other = result == x ? y : x;
            NAMED(split)(n, roots, result, other);
            result = other;
        }
        NAMED(store)(t, lanes, is_adjacent, outers, columns, (const REAL *)result);
    }
}

#undef VECTOR
#undef LANES
#undef PUT
#undef EACH

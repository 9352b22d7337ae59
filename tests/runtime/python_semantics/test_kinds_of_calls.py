"""Kinds of functions and of calls, each as a small program: numbers in Python say what tensors must give."""

import asyncio
import contextlib
import enum
import functools
import itertools
import typing

import agc.runtime as tf
import numpy as np
from agc import autograph
from support.each_case import each_case
from support.versions import converted_version


def case_closure_loopvar(x):
    fs = []
    for i in (1, 2, 3):
        fs.append(lambda: x * i if x > 0 else i)  # noqa: B023
    return [f() for f in fs]


def case_nested_def_in_branch(x):
    if x > 0:

        def g(y):
            return y + 1

        r = g(x)
    else:

        def g(y):
            return y - 1

        r = g(x)
    return r


def case_nested_def_in_loop(x):
    total = 0
    for i in range(3):

        def g(y, i=i):
            if y > 0:
                return y + i
            return -i

        total += g(x)
    return total


def case_starargs(x):
    def g(a, /, b, *c, d, e=5, **k):
        if a > 0:
            return a + b + sum(c) + d + e + sum(k.values())
        return d

    return g(x, 1, 2, 3, d=4, z=9), g(x, b=1, d=2), g(*[x, 1], d=3)


def case_lambdas_on_line(x):
    f, g = lambda a: a + 1 if a > 0 else 0, lambda a: a - 1 if a > 0 else 5
    return f(x), g(x)


def case_partial(x):
    def g(a, b, c):
        return a if b > c else c

    return functools.partial(g, 1, c=2)(x)


def case_partialmethod(x):
    class A:
        def m(self, a, b):
            return a if b > 0 else -a

        two = functools.partialmethod(m, 2)

    return A().two(x)


def outer_default(x, y=7):
    return y if x > 0 else -y


def case_defaults(x):
    return outer_default(x), outer_default(x, 3), outer_default(x, y=4)


def case_tensor_default(x):
    def g(a=x):
        if a > 0:
            return a
        return 0

    return g(), g(5)


class Base:
    k = 3

    def __init__(self, x):
        self.x = x
        self.__secret = x * 2

    def m(self):
        return self.x if self.x > 0 else 0

    @classmethod
    def make(cls, x):
        return cls(x if x > 0 else -x)

    @staticmethod
    def st(x):
        return 1 if x > 0 else 2

    @property
    def p(self):
        return self.x * self.k if self.x > 0 else self.k

    def secret(self):
        if self.__secret > 0:
            return self.__secret
        return self.__hidden()

    def __hidden(self):
        return -1 if self.__secret < -100 else -2

    class Inner:
        def __init__(self, v):
            self.__v = v
            self.__seen = [v, 0]

        def seen(self, index):
            if self.__v > 0:
                self.__seen[index] = self.__v + 1
            return self.__seen

        def get(self):
            while self.__v > 1:
                self.__v -= 1
            return self.__v


class Derived(Base):
    def m(self):
        if self.x > 0:
            return super().m() + 1
        return super().m() - 1

    @classmethod
    def make(cls, x):
        r = super().make(x)
        r.tag = __class__.__name__
        return r

    @property
    def p(self):
        if self.x > 0:
            return super().p + 1
        return super().p

    def nested(self):
        def inner(y):
            if y > 0:
                return super(Derived, self).m()
            return __class__.k

        return inner(self.x)

    def zero_super_in_nested(self):
        def inner(self):
            if self.x > 0:
                return super().m()
            return -super().m()

        return inner(self)


def case_supers(x):
    d = Derived(x)
    return (
        d.m(),
        d.p,
        d.nested(),
        d.zero_super_in_nested(),
        Derived.make(x).x,
        Derived.st(x),
        d.st(x),
        d.secret(),
        Base.Inner(x).get(),
        Base.Inner(x).seen(1),
    )


def case_bound_value(x):
    d = Derived(x)
    f = d.m
    g = Base.m
    return f(), g(d), (d.m if True else None)()


def case_callable_obj(x):
    class C:
        def __call__(self, y, *, k=1):
            return y + k if y > 0 else k

    return C()(x), C()(x, k=3)


def case_getattr(x):
    class G:
        def __getattr__(self, name):
            if name == "v":
                return 1 if x > 0 else 2
            raise AttributeError(name)

    return G().v


def case_user_ag(x):
    ag__ = 3
    if_true = 4
    loop_body = 5
    agc = 6
    if x > 0:
        ag__ += 1
    for _i in range(x):
        loop_body += if_true
    return ag__, if_true, loop_body, agc


def case_annot(x):
    y: int = 0
    if x > 0:
        y: Forward = 1  # noqa: F821  (never evaluated)
    z: int
    z = 1 if x > 0 else 2
    return y + z


def case_del(x):
    y = x
    if x > 0:
        t = y + 1
        y = t
        del t
    return y


def case_star_expr(x):
    a, *b = [x, 1, 2]
    if a > 0:
        a, *b = [*b, a]
    return a, b


def gen(n):
    i = 0
    while i < 3:
        yield i + n
        i += 1


def case_generator(x):
    total = 0
    for v in gen(x):
        if v > 0:
            total += v
    return total


def case_genexpr(x):
    return sum(v * 2 for v in (x, x + 1))


def case_gen_sum(x):
    return sum(v if v > 0 else 0 for v in [x, 1])


@contextlib.contextmanager
def ctx(x):
    y = x * 2 if x > 0 else 1
    yield y


def case_ctx(x):
    with ctx(x) as y:
        if y > 2:
            y += 1
    return y


async def acalc(x):
    if x > 0:
        return x * 2
    return 0


def case_async(x):
    return asyncio.run(acalc(x))


async def agen(x):
    for i in range(3):
        yield x + i


async def aloop(x):
    total = 0
    async for v in agen(x):
        total += helper(v)
    async with Waiting(x) as z:
        total += z
    return total


class Waiting:
    def __init__(self, x):
        self.x = x

    async def __aenter__(self):
        return 1 if self.x > 0 else 2

    async def __aexit__(self, *e):
        return False


def helper(v):
    return v if v > 0 else 0


def case_async2(x):
    return asyncio.run(aloop(x))


def deco(n):
    def d(f):
        @functools.wraps(f)
        def w(*a, **k):
            r = f(*a, **k)
            if r > n:
                return r
            return n

        return w

    return d


@deco(2)
@deco(n=1)
def decorated(x):
    return x if x > 0 else 0


def case_deco(x):
    return decorated(x)


class ClassDeco:
    def __init__(self, f):
        functools.update_wrapper(self, f)
        self.f = f

    def __call__(self, *a):
        r = self.f(*a)
        return r if r > 0 else 0


@ClassDeco
def cdeco(x):
    return x - 1 if x > 1 else x


def case_classdeco(x):
    return cdeco(x)


class M:
    @deco(1)
    def meth(self, x):
        return x * 2 if x > 0 else x

    @functools.singledispatchmethod
    def sd(self, v):
        return v if v > 0 else -v

    @sd.register
    def _(self, v: str):
        return len(v)

    @functools.cached_property
    def c(self):
        return 1 if self.x > 0 else 0

    @functools.lru_cache  # noqa: B019
    def cached(self):
        return 5 if self.x > 0 else 6


def case_decorated_methods(x):
    m = M()
    m.x = x
    return m.meth(x), m.sd(x), m.sd("abc"), m.c, m.c, m.cached()


def make_closure(k):
    def f(x):
        return k if x > 0 else -k

    return f


one, two = make_closure(1), make_closure(2)


def case_same_code(x):
    return one(x), two(x), [*map(one, [x])], [*map(two, [x])]


ns = {}
exec(compile("def ex(x):\n    return x + 1\n", "<made>", "exec"), ns)


def case_exec(x):
    return ns["ex"](x) if x > 0 else 0


def case_starmap(x):
    return [*itertools.starmap(lambda a, b: a if a > b else b, [(x, 1)])]


def case_sortedkey(x):
    return sorted([3, 1, 2], key=lambda k: k if True else x), x


def case_nonlocal(x):
    n = 0

    def bump():
        nonlocal n
        if x > 0:
            n += 1
        else:
            n -= 1

    bump()
    bump()
    return n


def case_kwonly(x):
    def f(*, a, b=2):
        return a if a > b else b

    return f(a=x)


def case_posonly(x):
    def f(a, b=1, /):
        return a if a > b else b

    return f(x), f(x, 2)


def case_method_on_class(x):
    return Base.m(Base(x)), Base.st(x)


def case_typing(x):
    class P(typing.Protocol):
        def go(self) -> int: ...

    class Q(P):
        def go(self):
            return 1 if x > 0 else 0

    return Q().go()


def case_iter_class(x):
    class It:
        def __init__(self, n):
            self.n = n
            self.i = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.i >= 3:
                raise StopIteration
            self.i += 1
            return self.n if self.n > 0 else self.i

    return sum([*It(x)]), list(It(x))


def case_iter_gen(x):
    class It:
        def __iter__(self):
            for i in range(3):
                yield helper(x + i)

    t = 0
    for v in It():
        t += v
    return t


def case_contains(x):
    class C:
        def __contains__(self, v):
            return v == 1

        def __len__(self):
            return 2

        def __bool__(self):
            return True

    c = C()
    return (1 in c), len(c), 1 if c else 0, x


def case_setitem(x):
    class C(dict):
        def __setitem__(self, k, v):
            super().__setitem__(k, v if v > 0 else 0)

        def __missing__(self, k):
            return 1 if x > 0 else 2

    c = C()
    c["a"] = x
    return c["a"], c["b"]


def case_iadd(x):
    class C:
        def __init__(self, v):
            self.v = v

        def __iadd__(self, o):
            if o > 0:
                self.v += o
            return self

        def __eq__(self, o):
            return self.v == o.v

        __hash__ = None

        def __radd__(self, o):
            return o + self.v if self.v > 0 else o

    c = C(1)
    c += x
    return c.v, 3 + c


def case_enum(x):
    class Color(enum.IntEnum):
        R = 1

        @classmethod
        def pick(cls, v):
            return cls.R if v is not None else None

        def scaled(self, v):
            return v * self.value if v > 0 else self.value

    return Color.pick(1).scaled(x)


def case_namedtuple(x):
    class P(typing.NamedTuple):
        a: int
        b: int = 2

        def s(self):
            return self.a if self.a > self.b else self.b

        def __add__(self, o):
            return P(self.a + o.a, self.b) if self.a > 0 else self

    p = P(x)
    return p.s(), (p + p).a, p._replace(a=1).s()


def case_walrus(x):
    if (y := helper(x)) > 0:
        return y + 1
    return y


def case_reduce(x):
    return functools.reduce(lambda a, b: a + b if b > 0 else a, [x, 1, 2], 0)


def case_super_args(x):
    class A:
        def __init__(self, v):
            self.v = v if v > 0 else 0

    class B(A):
        def __init__(self, v, *, w=1):
            if w > 0:
                super().__init__(v + w)
            else:
                super().__init__(v)

    class C(B):
        def __init__(self, v):
            super().__init__(v, w=2) if v is not None else None

    return C(x).v


def case_new(x):
    class A:
        def __new__(cls, v):
            self = super().__new__(cls)
            self.v = v if v > 0 else 1
            return self

    return A(x).v


def case_init_subclass(x):
    class A:
        def __init_subclass__(cls, **k):
            cls.k = k.get("k", 0)

    class B(A, k=3):
        pass

    return B.k + x if x > 0 else B.k


RUNS = {
    "python": autograph.convert,
    "converted": converted_version,
    "eager": lambda f: lambda x: f(tf.constant(x)),
    "plan": lambda f: lambda x: tf.function(f)(tf.constant(x)),
    "interpret": lambda f: lambda x: tf.function(f, experimental_executor="interpret")(tf.constant(x)),
}
CASES = [value for name, value in list(globals().items()) if name.startswith("case_")]


@each_case("run", RUNS)
@each_case("f", CASES, ids=lambda f: f.__name__.removeprefix("case_"))
def test_every_program_gives_pythons_result(f, run):
    for x in (3, -3):
        expected, found = f(x), RUNS[run](f)(x)
        tf.nest.map_structure(lambda e, g: np.testing.assert_array_equal(np.asarray(g), e), expected, found)

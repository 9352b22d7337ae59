"""Programs with control flow on numbers and arrays, which know nothing of JAX or agc.

Each is called with NumPy scalars or arrays; `PROGRAMS` gives arguments for each path.
"""

# ruff: noqa: SIM108, SIM113, B905  (programs in the style of users)

import numpy as np

PROGRAMS = []
"""(function, arguments of several calls)."""


def program(*calls):
    def registered(function):
        PROGRAMS.append((function, calls))
        return function

    return registered


def i(value):
    return np.int32(value)


def f(value):
    return np.float32(value)


V = np.array([1.0, -2.0, 3.0, 0.5], np.float32)
N = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)


@program((i(3),), (i(-3),), (i(0),))
def absolute(x):
    if x < 0:
        x = -x
    return x


@program((i(1),), (i(0),), (i(-1),))
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@program((f(2.0),), (f(-2.0),))
def conditional_expression(x):
    return x * x if x > 0 else -x


@program((f(2.0), f(1.0)), (f(1.0), f(2.0)))
def swap(x, y):
    if x > y:
        x, y = y, x
    return x, y


@program((f(0.2),), (f(0.7),), (f(2.0),))
def early_return(x):
    if x < 0.5:
        return x * 2
    y = x * x
    if x < 1:
        return y + 1
    return y - 1


@program((i(5),), (i(-1),))
def bound_on_one_path(x):
    if x > 0:
        y = x + 1
    if x > 0:
        return y
    return x


@program((f(1.5),), (f(-1.5),))
def number_or_array(x):
    y = 0
    if x > 0:
        y = x
    return y


@program((i(3), i(4)), (i(-3), i(4)), (i(3), i(-4)), (i(-3), i(-4)))
def nested_ifs(x, y):
    if x > 0:
        if y > 0:
            z = x + y
        else:
            z = x - y
    else:
        if y > 0:
            z = y
        else:
            z = 0
    return z


@program((i(3), i(4)), (i(-3), i(4)), (i(3), i(-4)))
def logic(x, y):
    return (x > 0 and y > 0, x > 0 or y > 0, not x > 0)


@program((i(3), i(4)), (i(-3), i(4)), (i(-3), i(0)), (i(0), i(0)))
def logic_of_truth_values_and_numbers(x, y):
    kept = 1 if x < 0 and y else 2
    return x < 0 and y, y and x < 0, y or x < 0, x < 0 or y, x > 0 and 5, kept


@program((i(0),), (i(5),), (i(20),))
def chained_comparison(x):
    if 0 < x < 10:
        return 1
    return 0


@program((i(0),), (i(3),), (i(12),))
def guarded_division(x):
    if x != 0 and 12 // x > 3:
        return 1
    return 0


@program((i(1),), (i(2),), (i(3),), (i(7),))
def elif_chain(x):
    if x == 1:
        y = 10
    elif x == 2:
        y = 20
    elif x == 3:
        y = 30
    else:
        y = x * 100
    return y


@program((i(1),), (i(2),), (i(9),))
def match_value(x):
    match x:
        case 1:
            return 100
        case 2 | 3:
            return 200
        case _ if x > 5:
            return x
    return 0


@program((V,), (-V,))
def choose_rows(v):
    if v.sum() > 0:
        v = v * 2
    else:
        v = v + 1
    return v


@program((f(1.0),), (f(-1.0),))
def structures(x):
    state = {"a": x, "b": (x + 1, None)}
    if x > 0:
        state = {"a": x * 2, "b": (x, None)}
    return state


@program((f(1.0),), (f(-1.0),))
def item_of_dict(x):
    state = {"count": 0, "total": x}
    if x > 0:
        state["count"] = 1
        state["total"] = x + 10
    return state


@program((f(1.0),), (f(-1.0),))
def attribute(x):
    class Box:
        pass

    box = Box()
    box.value = x
    if x > 0:
        box.value = x * 3
    return box.value


@program((i(27),), (i(1),))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program((i(48), i(18)), (i(17), i(5)))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@program((f(2.0),), (f(10.0),))
def square_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-5 * x:
        guess = 0.5 * (guess + x / guess)
    return guess


@program((i(10),), (i(0),))
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program((i(2), i(10)), (i(3), i(0)))
def power(base, n):
    result = 1
    while n > 0:
        if n % 2 == 1:
            result *= base
        base *= base
        n //= 2
    return result


@program((i(100),), (i(3),))
def break_in_while(limit):
    total, k = 0, 0
    while True:
        k += 1
        total += k
        if total > limit:
            break
    return k, total


@program((i(10),), (i(1),))
def continue_in_while(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        total += n
    return total


@program((i(91),), (i(97),), (i(100),))
def return_in_while(n):
    k = 2
    while k * k <= n:
        if n % k == 0:
            return k
        k += 1
    return n


@program((i(10),), (i(0),))
def else_of_while(n):
    while n > 0:
        n -= 2
        if n == 1:
            break
    else:
        return 100
    return n


@program((i(20),), (i(5),))
def nested_loops(n):
    count = 0
    k = 2
    while k < n:
        j = 2
        is_prime = True
        while j * j <= k:
            if k % j == 0:
                is_prime = False
                break
            j += 1
        if is_prime:
            count += 1
        k += 1
    return count


@program((i(2), i(10), i(3)), (i(10), i(2), i(-3)), (i(5), i(5), i(1)))
def range_with_step(start, stop, step):
    total = 0
    for k in range(start, stop, step):
        total = total * 10 + k
    return total


@program((N,), (N[:1],))
def sum_of_rows(v):
    total = 0
    for x in v:
        total += x
    return total


@program((N,), (N[2:],))
def largest(v):
    best = v[0]
    for x in v:
        if x > best:
            best = x
    return best


@program((N, i(4)), (N, i(7)))
def find(v, wanted):
    place = -1
    k = 0
    for x in v:
        if x == wanted:
            place = k
            break
        k += 1
    return place


@program((N, i(4)), (N, i(7)))
def find_and_return(v, wanted):
    for k, x in enumerate(v):
        if x == wanted:
            return k
    return -1


@program((N,))
def skip_rows(v):
    total = 0
    for x in v:
        if x % 2 == 0:
            continue
        total += x
    return total


@program((N, N[::-1]))
def zipped(a, b):
    total = 0
    for x, y in zip(a, b):
        total += x * y
    return total


@program((N,))
def backwards(v):
    total = 0
    for x in reversed(v):
        total = total * 10 + x
    return total


@program((N,))
def enumerated_from(v):
    total = 0
    for k, x in enumerate(v, 1):
        total += k * x
    return total


@program((np.arange(12, dtype=np.float32).reshape(3, 4),))
def rows_of_matrix(m):
    total = m[0] * 0
    for row in m:
        total = total + row * row.sum()
    return total


@program((np.arange(12, dtype=np.float32).reshape(3, 4),))
def loops_over_rows_of_rows(m):
    total = 0.0
    for row in m:
        for x in row:
            if x > 3:
                total += x
    return total


@program((N, i(3)), (N, i(0)))
def variable_of_the_loop(v, n):
    x = -1
    for k in range(n):
        x = v[k]
    return x


@program((N,))
def last_row(v):
    for x in v:
        y = x * 2
    return x, y


@program((V,))
def append_in_for(v):
    results = []
    for x in v:
        results.append(x * x)
    return results


@program((V,))
def append_pairs(v):
    results = [v[0]]
    total = 0.0
    for x in v:
        total += x
        results.append(total)
        results.append(-total)
    return results


@program((np.arange(6, dtype=np.float32).reshape(2, 3),))
def append_in_nested_loops(m):
    results = []
    for row in m:
        for x in row:
            results.append(x + 1)
    return results


@program((N, i(2)), (N, i(0)))
def assign_item(v, k):
    v = v.copy()
    v[k] = 100
    return v


@program((N,))
def assign_items_in_loop(v):
    v = v.copy()
    for k in range(1, 8):
        v[k] = v[k - 1] + v[k]
    return v


@program((N, i(8)), (N, i(3)))
def bubble_sort(v, n):
    v = v.copy()
    for a in range(n):
        for b in range(n - 1 - a):
            if v[b] > v[b + 1]:
                v[b], v[b + 1] = v[b + 1], v[b]
    return v


@program((N, i(2)))
def augmented_item(v, k):
    v = v.copy()
    v[k] += 5
    v[3:] *= 2
    return v


@program((i(30), np.ones(40, np.int32)), (i(1), np.ones(40, np.int32)))
def sieve(n, flags):
    flags = flags.copy()
    k = 2
    while k * k <= n:
        if flags[k] == 1:
            j = k * k
            while j <= n:
                flags[j] = 0
                j += k
        k += 1
    count = 0
    for p in range(2, n + 1):
        count += flags[p]
    return count


@program((f(3.0),), (f(0.3),))
def helper_functions(x):
    def clipped(y):
        if y > 1:
            return 1.0 + 0 * y
        return y

    total = 0.0
    k = 0
    while k < 3:
        total += clipped(x * k)
        k += 1
    return total


def _factorial_like(n, total):
    while n > 1:
        total *= n
        n -= 1
    return total


@program((i(5),), (i(0),))
def global_helper(n):
    return _factorial_like(n, 1)


@program((f(2.0),), (f(-2.0),))
def closures(x):
    scale = 3.0 if x > 0 else 4.0
    return (lambda y: y * scale)(x)


class _Counter:
    def __init__(self, step):
        self.step = step
        self.count = 0

    def run(self, n):
        while self.count < n:
            self.count += self.step
        return self.count


@program((i(10),), (i(0),))
def methods(n):
    return _Counter(3).run(n)


@program((i(6),), (i(0),))
def dict_state_in_loop(n):
    state = {"a": 0, "b": 1}
    for _ in range(n):
        state = {"a": state["b"], "b": state["a"] + state["b"]}
    return state["a"]


@program((i(4),))
def tuple_state_in_loop(n):
    pair = (0, 1)
    while n > 0:
        pair = (pair[1], pair[0] + pair[1])
        n -= 1
    return pair


@program((f(1.0), i(4)))
def number_becomes_float(x, n):
    total = 0
    for k in range(n):
        total += x * k
    return total


@program((N,))
def built_ins(v):
    return min(v), max(v), sum(v), abs(v[0] - v[2]), len(v), max(v[0], v[1])


@program((f(2.7),), (f(-2.7),))
def conversions(x):
    return int(x), float(x), bool(x > 0), round(x)


@program((V,))
def all_and_any(v):
    return all(v > -5), any(v > 2), any(v > 100)


@program((f(0.5), f(0.5)), (f(2.0), f(2.0)))
def mandelbrot(re, im):
    x, y = 0.0 * re, 0.0 * im
    steps = 0
    while x * x + y * y <= 4 and steps < 50:
        x, y = x * x - y * y + re, 2 * x * y + im
        steps += 1
    return steps


@program((np.array([3.0, 1.0, 2.0], np.float32),))
def bisection(v):
    low, high = v.min() * 0, v.max()
    while high - low > 1e-3:
        middle = (low + high) / 2
        if middle * middle < v[2]:
            low = middle
        else:
            high = middle
    return low


@program((i(12),), (i(13),))
def try_finally(n):
    log = 0
    try:
        if n % 2 == 0:
            log = n // 2
    finally:
        log = log + 1
    return log


@program((N,), (-N,))
def walrus(v):
    if (total := v.sum()) > 0:
        return total
    return -total


@program((i(3),), (i(5),))
def while_with_walrus(n):
    total = 0
    while (n := n - 1) > 0:
        total += n
    return total


@program((np.array([[2.0, 1.0], [1.0, 3.0]], np.float32),))
def power_iteration(m):
    v = m[0]
    change = 1.0
    while change > 1e-4:
        new = m @ v
        new = new / np.float32(2) if new.sum() > 100 else new / (new * new).sum() ** 0.5
        change = abs(new - v).sum()
        v = new
    return v


@program((V,), (-V,))
def match_tuple(v):
    match (v[0], v[1]):
        case (a, b) if a > b:
            return a * a - b
        case (a, b):
            return a + b * b


@program((V,))
def comprehension(v):
    return sum([x * x if x > 0 else -x for x in v])


@program((V,))
def nested_comprehension(v):
    return sum([x * y for x in v for y in v])


@program((V,), (-V,))
def any_of_generator(v):
    if any(x > 2 for x in v):
        return v.sum()
    return -v.sum()


@program((V,), (-V / 10,))
def else_of_for(v):
    for x in v:
        if x > 2:
            result = x * x
            break
    else:
        result = v.sum()
    return result


@program((V, i(5)), (V, i(0)))
def descending_range(v, n):
    total = 0.0
    for k in range(n, 0, -2):
        total = total * 2 + v[k % 4] * k
    return total


@program((V, i(3)), (V, i(0)))
def enumerated_range(v, n):
    total = 0.0
    for k, j in enumerate(range(n), start=2):
        total += k * v[j]
    return total


@program((V, i(3)), (V, i(0)))
def reversed_range(v, n):
    total = 0.0
    for k in reversed(range(n)):
        total = 2 * total + v[k]
    return total


@program((V, i(3)))
def zipped_with_a_range(v, n):
    total = 0.0
    for k, x in zip(range(n), v):
        total = 2 * total + v[k] * x
    return total


@program((V,))
def zipped_with_a_list(v):
    total = 0.0
    for weight, x in zip([1.0, 2.0, 3.0, 4.0], v):
        if x > 0:
            total += weight * x
    return total


@program((V, i(3)), (V, i(0)))
def augmented_attribute(v, n):
    counter = _Counter(v[0] + 0)
    counter.items = {"a": v[1] + 0}
    for k in range(n):
        counter.step *= v[k]
        counter.items["a"] += counter.step
    return counter.step + counter.items["a"]


@program((V,))
def items_of_list(v):
    pair = [v[0], v[1]]
    for x in v:
        pair[0] = pair[0] + x
        pair[1] = pair[0] * x
    return pair


@program((V,))
def shared_variable(v):
    total = 0.0

    def add(x):
        nonlocal total
        if x > 0:
            total += x * x

    for x in v:
        add(x)
    return total


def _folded(x, depth):
    if depth == 0:
        return x
    if x > 1:
        return _folded(x / 2, depth - 1)
    return _folded(x * x + 1, depth - 1)


@program((f(2.5),), (f(0.3),))
def recursion(x):
    return _folded(x, 4)


@program((V,), (-V,))
def with_statement(v):
    with np.errstate(all="ignore"):
        if v[0] > 0:
            return v[0] * v[0]
        return -v[1]


@program((V,))
def sorted_items(v):
    first, *_, last = sorted(v)
    return last - first

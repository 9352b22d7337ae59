"""Changes by other names and variables in functions that a staged block calls: Python's answer or an error."""

from support.hidden_changes import Counter, agrees, refused


class TestOtherNames:
    def test_an_attribute(self):
        def f(n):
            c, i, total = Counter(), 0, 0
            c.other = Counter()
            while i < n:
                inner = c.other
                inner.n += 1
                total += c.other.n
                i += 1
            return total, c.other.n

        agrees(f)

    def test_two_names_of_one_object(self):
        def f(n):
            a, i = Counter(), 0
            b = a
            while i < n:
                a.n += 1
                b.n += 2
                i += 1
            return a.n, b.n

        agrees(f)

    def test_a_variable_that_cycles_through_objects(self):
        def f(n):
            a, b, i = Counter(), Counter(), 0
            a.other, b.other = b, a
            while i < n:
                here = a
                for _ in range(3):
                    here.n += 1
                    here = here.other
                i += 1
            return a.n, b.n

        agrees(f)

    def test_a_list_or_dict_that_is_state_is_still_the_same_object(self):
        def add(d):
            d["n"] += 1
            return d

        def f(n):
            first, numbers, seen, i = {"n": 0}, [0, [0]], 0, 0
            d, xs = first, numbers
            while i < n:
                d = add(d)
                xs[1][0] += 2
                xs = numbers
                seen += first["n"]
                i += 1
            return d["n"], first["n"], seen, numbers[1][0], d is first

        agrees(f)

    def test_containers_in_a_tuple(self):
        def step(x, state):
            state[0]["h"] += x
            state[1][0] += 1
            return state

        def f(n):
            d = {"h": 0}
            state, i = (d, [1]), 0
            while i < n:
                state = step(i, state)
                i += 1
            return state[0]["h"], state[1][0], d["h"]

        agrees(f)

    def test_a_list_changed_in_a_closure_keeps_its_identity(self):
        def f(n):
            c, i = Counter(), 0
            c.other = [0]
            kept = c.other

            def add():
                c.other[0] += 10

            while i < n:
                add()
                i += 1
            return c.other[0], kept[0], kept is c.other

        agrees(f)

    def test_swapped_variables(self):
        def f(n):
            p, q = [0], [10]
            a, b, i = p, q, 0
            while i < n:
                a, b = b, a
                a[0] += 1
                i += 1
            return p[0], q[0]

        refused(f, "AGC291", "`b` is changed in place, and bound to another object")

    def test_a_choice_of_two_dicts(self):
        def read(n):
            d = first = {"k": 0}
            if n > 2:
                d = {"k": 5}
            return d["k"], first["k"]

        def write(n):
            d = first = {"k": 0}
            if n > 2:
                d = {"k": 5}
            d["k"] += 1
            return d["k"], first["k"]

        agrees(read)
        refused(write, "AGC291", "`d` is changed in place")

    def test_a_dict_that_is_changed_and_then_another(self):
        def f(n):
            first = {"n": 0}
            d, i = first, 0
            while i < n:
                d["n"] = d["n"] + 1
                if i > 1:
                    d = {"n": 0}
                i += 1
            return first["n"], d["n"]

        refused(f, "AGC291", "`d` is changed in place, and bound to another object")


class TestVariables:
    def test_nonlocal(self):
        def f(n):
            k = 0

            def inc():
                nonlocal k
                k += 1

            i, total = 0, 0
            while i < n:
                inc()
                i += 1
                total += k
            return k, total

        agrees(f)

    def test_counters_in_closures(self):
        def counter():
            k = 0

            def inc():
                nonlocal k
                k += 1
                return k

            return inc

        def f(n):
            a, b = counter(), counter()
            i, total = 0, 0
            while i < n:
                total += a() + a() * b()
                i += 1
            return total, a(), b()

        agrees(f)

    def test_globals(self):
        def f(n):
            global tally
            tally = 0
            i, total = 0, 0
            while i < n:
                total += count()
                globals()["tally"] += 1
                i += 1
            result, tally = tally, 0
            return total, result

        agrees(f)

    def test_default_arguments(self):
        def f(n):
            def keep(x, store=[0]):  # noqa: B006
                store[0] += x
                return store[0]

            i, total = 0, 0
            while i < n:
                total += keep(i)
                i += 1
            return total

        agrees(f)

    def test_closures_made_in_a_loop(self):
        def f(n):
            late, early = [], []
            for k in range(3):
                late.append(lambda: k * n)  # noqa: B023
                early.append(lambda k=k: k * n)
            return [g() for g in late], [g() for g in early]

        agrees(f)

    def test_closures_made_in_a_staged_loop(self):
        def f(n):
            late, i = [], 0
            while i < n:
                late.append(lambda: i)  # noqa: B023
                i += 1
            return late[0]()

        refused(f)

    def test_the_test_of_a_loop(self):
        def f(n):
            c, total = Counter(), 0
            while c.bump() < n:
                c.n += 1
                total += c.n
            return total, c.n

        agrees(f)

    def test_an_operand(self):
        def f(n):
            c = Counter()
            return n > 2 and c.bump() > 0, c.n

        refused(f, "AGC291", "an operand of this `and` changes `c.n`")


tally = 0


def count():
    global tally
    tally += 1
    return tally

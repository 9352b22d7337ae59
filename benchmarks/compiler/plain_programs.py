"""Typical Python without tensors; the default of each function's parameter is the argument that is measured.

This file is not imported: `overhead` loads copies of its text.
"""

# mypy: ignore-errors
# ruff: noqa: PIE804, RUF005, SIM108, UP033

import contextlib
import dataclasses
import enum
import functools


def branch(x=3):
    if x > 0:
        y = x
    else:
        y = -x
    return y


def early_return(x=3):
    if x < 0:
        return -1
    return x


def for_loop(n=100):
    total = 0
    for i in range(n):
        total += i
    return total


def while_loop(n=100):
    total = 0
    while n > 0:
        total += n
        n -= 1
    return total


def loop_with_branch(n=100):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total += i
    return total


def loop_with_break(n=100):
    for i in range(n):
        if i == n - 1:
            break
    return i


def early_return_from_loops(n=20):
    for i in range(n):
        for j in range(i):
            if i * j == 240:
                return i, j
    return None


def call(x=3):
    return branch(x)


def calls_in_a_loop(n=100):
    total = 0
    for i in range(n):
        total += branch(i)
    return total


def builtins_in_a_loop(n=100):
    total = 0
    for i in range(n):
        total += abs(i - 50) + len(str(i)) + max(i, 3)
    return total


def builtin_in_a_variable(n=100):
    size, least = len, min
    total = 0
    for i in range(n):
        total += size("text") + least(i, 5)
    return total


def append_in_a_branch(n=100):
    even = []
    for i in range(n):
        if i % 2 == 0:
            even.append(i)
    return even


def methods_of_a_parameter(text="to be or not to be " * 10):
    found = []
    for word in text.split():
        if word.startswith("b"):
            found.append(word.upper())
    return found


def assigned_items(n=100):
    squares = [0] * n
    for i in range(n):
        squares[i] = i * i
    return squares


def items_of_a_parameter(n=100, squares=[0] * 100):
    for i in range(n):
        squares[i] = i
        squares[i] += 1
    return squares


def items_of_an_attribute(n=50):
    class Table:
        def __init__(self):
            self.rows = [0] * n

        def fill(self):
            for i in range(n):
                self.rows[i] = i
            return self.rows

    return Table().fill()


def bubble_sort(n=20):
    numbers = [(7 * i) % n for i in range(n)]
    for i in range(n):
        for j in range(n - 1 - i):
            if numbers[j] > numbers[j + 1]:
                numbers[j], numbers[j + 1] = numbers[j + 1], numbers[j]
    return numbers


def quick_sort(numbers=tuple(37 * i % 101 for i in range(40))):
    if len(numbers) < 2:
        return list(numbers)
    first, *rest = numbers
    return quick_sort([x for x in rest if x < first]) + [first] + quick_sort([x for x in rest if x >= first])


def sorting_by_a_key(n=100):
    return sorted(range(n), key=lambda i: (i % 7, -i))


def sieve(n=200):
    is_prime = [True] * n
    for i in range(2, n):
        if is_prime[i]:
            for j in range(i * i, n, i):
                is_prime[j] = False
    return [i for i in range(2, n) if is_prime[i]]


def string_building(n=50):
    parts = []
    for i in range(n):
        parts.append(f"{i}:{i * i:x}")
    return ", ".join(parts)


def counting_words(text="the quick brown fox jumps over the lazy dog and the cat " * 5):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def grouping(n=100):
    groups = {}
    for i in range(n):
        groups.setdefault(i % 7, []).append(i)
    return groups


def fibonacci(n=12):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def hanoi(n=6):
    moves = []

    def move(count, source, target, spare):
        if count:
            move(count - 1, source, spare, target)
            moves.append((source, target))
            move(count - 1, spare, target, source)

    move(n, "a", "c", "b")
    return len(moves)


def generator(n=50):
    def numbers():
        a, b = 0, 1
        for _ in range(n):
            yield a
            a, b = b, a + b

    return sum(number for number in numbers() if number % 2 == 0)


def permutations(items=(1, 2, 3, 4)):
    def ordered(rest):
        if not rest:
            yield ()
        for i, item in enumerate(rest):
            for others in ordered(rest[:i] + rest[i + 1 :]):
                yield (item, *others)

    return len(list(ordered(items)))


def comprehensions(n=30):
    table = [[i * j for j in range(n)] for i in range(n)]
    return {i: sum(row) for i, row in enumerate(table) if i % 2}


def flattened(n=5):
    def flat(tree):
        if isinstance(tree, list):
            return [leaf for branch in tree for leaf in flat(branch)]
        return [tree]

    return flat([[i, [i, [i, i]]] for i in range(n)])


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    @property
    def length(self):
        return (self.x**2 + self.y**2) ** 0.5

    def scaled(self, factor):
        return Vector(self.x * factor, self.y * factor)


def objects(n=50):
    total = Vector(0.0, 0.0)
    for i in range(n):
        total = total + Vector(i, 1.0).scaled(0.5)
    return total.length


def bank(n=50):
    class Account:
        def __init__(self):
            self.balance = 0
            self.history = []

        def pay(self, amount):
            if amount > self.balance:
                raise ValueError("not enough")
            self.balance -= amount
            self.history.append(amount)

        def earn(self, amount):
            self.balance += amount

    account = Account()
    refused = 0
    for i in range(n):
        account.earn(i % 5)
        try:
            account.pay(i % 7)
        except ValueError:
            refused += 1
    return account.balance, refused, len(account.history)


def exceptions(n=50):
    found = 0
    for i in range(n):
        try:
            found += 10 // (i % 3)
        except ZeroDivisionError:
            found -= 1
        finally:
            found += 1
    return found


def nested_functions(n=50):
    count = 0

    def increase(by):
        nonlocal count
        count += by
        return count

    for i in range(n):
        increase(i)
    return count


def higher_order(n=50):
    def composed(*functions):
        return lambda x: functools.reduce(lambda value, f: f(value), functions, x)

    f = composed(lambda x: x + 1, lambda x: x * 2, lambda x: x - 3)
    return sum(map(f, filter(lambda i: i % 3, range(n))))


def decorated(n=15):
    @functools.lru_cache(maxsize=None)
    def ways(rest, coin):
        if rest == 0:
            return 1
        if rest < 0 or coin == 0:
            return 0
        return ways(rest - coin, coin) + ways(rest, coin - 1)

    return ways(n, n)


def context_managers(n=20):
    entered = []

    @contextlib.contextmanager
    def scope(name):
        entered.append(name)
        try:
            yield name
        finally:
            entered.pop()

    for i in range(n):
        with scope(i):
            depth = len(entered)
    return depth


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Direction(enum.Enum):
    LEFT = -1
    RIGHT = 1


def dataclasses_and_enums(n=50):
    point = Point(0)
    for i in range(n):
        direction = Direction.LEFT if i % 3 == 0 else Direction.RIGHT
        point = dataclasses.replace(point, x=point.x + direction.value)
    return point.x


def matching(n=50):
    total = 0
    for i in range(n):
        match (i % 3, i % 5):
            case (0, 0):
                total += 15
            case (0, _):
                total += 3
            case (_, rest) if rest:
                total += rest
    return total


def star_arguments(n=50):
    def added(*numbers, scale=1, **others):
        return scale * (numbers[0] + numbers[-1]) + len(others)

    total = 0
    for i in range(n):
        total += added(*(i, i + 1), **{"scale": 2, "other": i})
    return total


def walrus(n=100):
    numbers = iter(range(1, n))
    total = 0
    while (number := next(numbers, 0)) and number < 90:
        total += number
    return total


def matrix_product(n=8):
    a = [[i + j for j in range(n)] for i in range(n)]
    c = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            total = 0
            for k in range(n):
                total += a[i][k] * a[k][j]
            c[i][j] = total
    return c


def game_of_life(n=12):
    cells = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
    for _ in range(n):
        counts = {}
        for x, y in cells:
            for dx in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    if dx or dy:
                        counts[x + dx, y + dy] = counts.get((x + dx, y + dy), 0) + 1
        cells = {cell for cell, count in counts.items() if count == 3 or (count == 2 and cell in cells)}
    return len(cells)


def queens(n=6):
    def solutions(rows):
        if len(rows) == n:
            return 1
        count = 0
        for column in range(n):
            if all(column != c and len(rows) - r != abs(column - c) for r, c in enumerate(rows)):
                count += solutions([*rows, column])
        return count

    return solutions([])


def n_body(steps=10):
    bodies = [[0.0, 0.0, 0.0, 0.1, 5.0], [1.0, 0.0, 0.0, 1.0, 0.5], [0.0, 2.0, -1.0, 0.0, 0.1]]
    for _ in range(steps):
        for a in bodies:
            for b in bodies:
                if a is b:
                    continue
                dx, dy = b[0] - a[0], b[1] - a[1]
                pull = 0.01 * b[4] / (dx * dx + dy * dy + 0.01) ** 1.5
                a[2] += dx * pull
                a[3] += dy * pull
        for body in bodies:
            body[0] += 0.01 * body[2]
            body[1] += 0.01 * body[3]
    return bodies


def tokenizer(text="12 + 34 * (5 - x1) / 7 " * 4):
    tokens = []
    position = 0
    while position < len(text):
        character = text[position]
        if character.isspace():
            position += 1
        elif character.isdigit():
            start = position
            while position < len(text) and text[position].isdigit():
                position += 1
            tokens.append(int(text[start:position]))
        else:
            tokens.append(character)
            position += 1
    return tokens


def stack_machine(n=30):
    program = [("push", n), ("label",), ("dup",), ("sub", 1), ("jump", 1), ("halt",)]
    stack, at, steps = [], 0, 0
    while True:
        name, *arguments = program[at]
        at += 1
        steps += 1
        if name == "push":
            stack.append(arguments[0])
        elif name == "dup":
            stack.append(stack[-1])
        elif name == "sub":
            stack[-1] -= arguments[0]
        elif name == "jump":
            if stack[-1] > 0:
                at = arguments[0]
        elif name == "halt":
            return steps, stack[0]


def shortest_path(n=6):
    grid = {(x, y) for x in range(n) for y in range(n) if (x * y) % 4 != 3}
    seen, edge, distance = {(0, 0)}, [(0, 0)], 0
    while edge:
        if (n - 1, n - 1) in seen:
            return distance
        following = []
        for x, y in edge:
            for step in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                if step in grid and step not in seen:
                    seen.add(step)
                    following.append(step)
        edge, distance = following, distance + 1
    return None


class Node:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Node(key)
            else:
                self.left.insert(key)
        elif key > self.key:
            if self.right is None:
                self.right = Node(key)
            else:
                self.right.insert(key)

    def __iter__(self):
        if self.left is not None:
            yield from self.left
        yield self.key
        if self.right is not None:
            yield from self.right


def binary_tree(n=20):
    root = Node(n // 2)
    for i in range(n):
        root.insert(7 * i % n)
    return list(root)


def longest_common_subsequence(a="programming language", b="grammar of an engine"):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x == y:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]

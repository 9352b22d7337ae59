"""Algorithms with loops whose ends depend on data, written in plain Python on arrays.

`ALGORITHMS` has the arguments of two calls of each, of the same types: they are batched, too. `SMOOTH` has those that
have derivatives with respect to the first argument.
"""

# ruff: noqa: SIM108  (programs in the style of users)

import numpy as np
from agc.autograph.experimental import set_loop_options

ALGORITHMS = []
"""(function, arguments of several calls)."""

SMOOTH = set()

MIXED = set()
"""Those that mix integers and floats, which tensors refuse."""


def algorithm(*calls, is_smooth=False, is_mixed=False):
    def registered(function):
        ALGORITHMS.append((function, calls))
        if is_smooth:
            SMOOTH.add(function)
        if is_mixed:
            MIXED.add(function)
        return function

    return registered


def i(value):
    return np.int32(value)


def f(value):
    return np.float32(value)


def ints(*values):
    return np.array(values, np.int32)


def floats(*values):
    return np.array(values, np.float32)


@algorithm((ints(1, 2, 3, 4, 0), ints(2, 3, 5, 4, 0), i(4)), (ints(1, 1, 1, 0, 0), ints(2, 1, 3, 4, 5), i(3)))
def edit_distance(one, other, count):
    row = one[:1] * 0 + ints(0, 1, 2, 3, 4, 5)
    for a in range(count):
        before = row[0]
        row[0] = a + 1
        for b in range(5):
            if one[a] == other[b]:
                cost = before
            else:
                cost = 1 + min(before, row[b], row[b + 1])
            before = row[b + 1]
            row[b + 1] = cost
    return row[5]


@algorithm((ints(5, 2, 9, 1, 7, 3),), (ints(1, 1, 0, 8, 2, 2),))
def quicksort(x):
    stack = x[:1] * 0 + ints(0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    top = 2
    while top > 0:
        top -= 2
        low, high = stack[top], stack[top + 1]
        if low >= high:
            continue
        pivot, place = x[high], low
        j = low
        while j < high:
            if x[j] < pivot:
                held = x[j]
                x[j] = x[place]
                x[place] = held
                place += 1
            j += 1
        x[high] = x[place]
        x[place] = pivot
        stack[top], stack[top + 1] = low, place - 1
        stack[top + 2], stack[top + 3] = place + 1, high
        top += 4
    return x


@algorithm((f(2.0), f(1e-5)), (f(30.0), f(1e-4)))
def bisected_root(x, tolerance):
    low, high = x * 0.0, x + 1.0
    while high - low > tolerance * x:
        middle = (low + high) / 2
        if middle * middle > x:
            high = middle
        else:
            low = middle
    return low


@algorithm((f(2.0),), (f(7.0),), is_smooth=True)
def newton_with_line_search(a):
    """The cube root, by Newton steps that are halved until they descend."""
    x, steps = a + 1.0, 0
    while abs(x * x * x - a) > 1e-3 * a and steps < 20:
        set_loop_options(maximum_iterations=20)
        step = (x * x * x - a) / (3 * x * x)
        rate = 1.0
        while abs((x - rate * step) ** 3 - a) > abs(x * x * x - a) and rate > 0.01:
            set_loop_options(maximum_iterations=10)
            rate /= 2
        x -= rate * step
        steps += 1
    return x


@algorithm((f(1.0), f(0.5)), (f(3.0), f(0.2)))
def bouncing_ball(height, speed):
    """Adaptive steps until the second bounce, an event where the speed changes its sign."""
    time, step, bounces = 0.0, 0.25, 0
    while bounces < 2 and time < 20.0:
        set_loop_options(maximum_iterations=200)
        after = height + step * speed - 5 * step * step
        if after < 0 and step > 1e-3:
            step /= 2
            continue
        height, speed, time = after, speed - 10 * step, time + step
        if height <= 1e-2 and speed < 0:
            bounces += 1
            speed = -0.5 * speed
            step = 0.25
    return speed


@algorithm(
    (floats(0.1, 0.9, 5.0, 5.2, 0.4), floats(0.0, 1.0)), (floats(1.0, 2.0, 9.0, 8.0, 7.0), floats(0.0, 3.0))
)
def two_means(points, centers):
    changed, rounds = True, 0
    while changed and rounds < 50:
        first = second = count = 0.0
        for p in points:
            if abs(p - centers[0]) <= abs(p - centers[1]):
                first += p
                count += 1.0
            else:
                second += p
        if count == 0 or count == 5:
            break
        one, other = first / count, second / (5 - count)
        changed = one != centers[0] or other != centers[1]
        centers[0] = one
        centers[1] = other
        rounds += 1
    return centers, rounds


@algorithm((ints(0, 1, 1, 0), f(0.6)), (ints(1, 1, 0, 0), f(0.9)))
def viterbi(seen, stay):
    """The most likely states of a chain of two states."""
    scores = np.float32(1) * stay * floats(1, 1)
    back = seen * 0
    for t in range(4):
        first, second = scores[0], scores[1]
        if first * stay >= second * (1 - stay):
            one = first * stay
        else:
            one = second * (1 - stay)
            back[t] += 1
        if second * stay > first * (1 - stay):
            two = second * stay
        else:
            two = first * (1 - stay)
            back[t] += 2
        hit = 0.8 if seen[t] == 0 else 0.2
        scores[0] = one * hit
        scores[1] = two * (1 - hit)
    state = 0 if scores[0] >= scores[1] else 1
    path = seen * 0
    for k in range(4):
        t = 3 - k
        path[t] = state
        if (back[t] == 1 or back[t] == 3) and state == 0:
            state = 1
        elif back[t] >= 2 and state == 1:
            state = 0
    return path


@algorithm((floats(1.0, 1.2, 0.8, 1.1), f(0.1)), (floats(3.0, 2.0, 2.5, 9.0), f(0.5)), is_smooth=True)
def kalman_filter(measured, noise):
    """Outliers are skipped."""
    mean, variance = measured[0], noise * 0 + 1.0
    for z in measured:
        variance += 0.1
        if abs(z - mean) > 5 * (variance + noise):
            continue
        gain = variance / (variance + noise)
        mean += gain * (z - mean)
        variance *= 1 - gain
    return mean


@algorithm(
    (np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]], np.int32), i(3)),
    (np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], np.int32), i(9)),
)
def game_of_life(board, most):
    """Generations until the board no longer changes."""
    generation = 0
    while generation < most:
        new, changes = board * 1, 0
        for r in range(4):
            for c in range(4):
                around = -board[r, c]
                for dr in (-1, 0, 1):
                    for dc in (-1, 0, 1):
                        around += board[(r + dr) % 4, (c + dc) % 4]
                new[r, c] = 1 if around == 3 or (around == 2 and board[r, c] == 1) else 0
                changes += abs(new[r, c] - board[r, c])
        if changes == 0:
            break
        board = new
        generation += 1
    return board, generation


@algorithm((f(0.85),), (f(0.5),), is_smooth=True)
def pagerank(damping):
    """The rank of the first of three pages, of which each links to the next, and the last to the first two."""
    a = b = c = damping * 0 + 1 / 3
    change, rounds = 1.0, 0
    while change > 1e-4 and rounds < 60:
        set_loop_options(maximum_iterations=60)
        base = (1 - damping) / 3
        new_a, new_b, new_c = base + damping * c / 2, base + damping * (a + c / 2), base + damping * b
        change = abs(new_a - a) + abs(new_b - b) + abs(new_c - c)
        a, b, c = new_a, new_b, new_c
        rounds += 1
    return a


@algorithm((ints(1, 0, 0, 4), i(0)), (ints(0, 2, 0, 0), i(0)))
def sudoku_row(row, rounds):
    """The rest of 1 to 4 in ascending order, by propagation of what is left."""
    changed = True
    while changed:
        changed = False
        for k in range(4):
            if row[k] != 0:
                continue
            for candidate in range(1, 5):
                if (
                    row[k] == 0
                    and row[0] != candidate
                    and row[1] != candidate
                    and row[2] != candidate
                    and row[3] != candidate
                ):
                    row[k] = candidate
                    changed = True
        rounds += 1
    return row, rounds


@algorithm((i(7), f(0.0)), (i(12345), f(1.0)), is_mixed=True)
def markov_chain(seed, x):
    """Metropolis steps on a parabola, with a generator of random numbers of its own."""
    accepted = 0
    for _ in range(20):
        seed = (seed * 1103 + 12345) % 32768
        proposal = x + (seed / 16384.0 - 1.0)
        seed = (seed * 1103 + 12345) % 32768
        if seed / 32768.0 < 1.0 - (proposal * proposal - x * x) or proposal * proposal < x * x:
            x = proposal
            accepted += 1
    return x, accepted


@algorithm((floats(0.2, 0.5, 0.3), i(4)), (floats(0.1, 0.1, 0.8), i(2)))
def beam_search(scores, length):
    """Two beams; each continues with the best or the second token, and ends with token 2."""
    one, other = scores[0] * 0, scores[0] * 0 - 100
    ended, steps = False, 0
    while steps < length and not ended:
        best, second, token = -1.0, -1.0, 0
        for k in range(3):
            if scores[k] > best:
                second = best
                best = scores[k]
                token = k
            elif scores[k] > second:
                second = scores[k]
        candidates = (one + best, one + second, other + best, other + second)
        other = min(max(candidates[0], candidates[2]), max(candidates[1], candidates[3]))
        one = max(candidates[0], candidates[2])
        ended = token == 2
        steps += 1
    return one, other, steps


@algorithm((floats(0.5, -1.0, 2.0), f(0.9)), (floats(0.1, 0.2, 0.3), f(0.99)), is_smooth=True)
def early_exit(h, enough):
    """Layers until the network is sure of its answer."""
    sure, layer = h[0] * 0, 0
    while sure < enough and layer < 6:
        set_loop_options(maximum_iterations=6)
        h = h * 1.5 + 0.1 * h[::-1]
        sure = 1 / (1 + abs(h[0] - h[2]) ** -2)
        layer += 1
    return sure


@algorithm((i(3), f(0.5)), (i(4), f(2.0)), is_mixed=True)
def mixed_numbers(n, x):
    """Integers that become floats, and Python numbers that adapt."""
    total = 0
    scale = 1
    while n > 0:
        total += x * n if n % 2 == 0 else n * 1.0
        scale = scale / 2
        n -= 1
    if total > 3:
        total = total // 1
    return total, scale

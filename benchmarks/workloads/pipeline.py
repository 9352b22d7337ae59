"""A pipeline of `tf.data`: small elements, each of which goes through the functions of the user."""

from __future__ import annotations

import numpy as np

TITLE = "tf.data pipeline, 20,000 elements, batches of 32"
EAGER = False
FULL = {"count": 20_000, "buffer": 1_000, "batch": 32}
TINY = {"count": 100, "buffer": 10, "batch": 8}


def tensorflow(tf, compiled, count, buffer, batch):
    def run():
        total = batches = 0
        for elements in dataset:
            total += int(elements.numpy().sum())
            batches += 1
        return np.array([total, batches])

    dataset = tf.data.Dataset.range(count).map(lambda x: x * x % 1009).filter(lambda x: x % 3 > 0)
    dataset = dataset.shuffle(buffer).batch(batch).prefetch(2)
    return run


def torch(torch, compiled, count, buffer, batch):
    class Squares(torch.utils.data.IterableDataset):
        def __iter__(self):
            for x in torch.arange(count):
                square = x * x % 1009
                if square % 3 > 0:
                    yield square

    def run():
        total = batches = 0
        for elements in loader:
            total += int(elements.sum())
            batches += 1
        return torch.tensor([total, batches])

    shuffled = torch.utils.data.datapipes.iter.Shuffler(Squares(), buffer_size=buffer)
    loader = torch.utils.data.DataLoader(shuffled, batch_size=batch)
    return run


def by_hand(count, buffer, batch):
    def run():
        squares = np.arange(count) ** 2 % 1009
        kept = random.permutation(squares[squares % 3 > 0])
        batches = [kept[i : i + batch] for i in range(0, len(kept), batch)]
        return np.array([sum(int(one.sum()) for one in batches), len(batches)])

    random = np.random.default_rng(0)
    return run

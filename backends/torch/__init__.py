"""AutoGraph for PyTorch: Python's control flow on traced tensors becomes `cond`, `while_loop` and `scan` of torch.

>>> import torch
>>> import agc.torch
>>> @agc.torch.compile
... def collatz(n):
...     steps = 0
...     while n != 1:
...         n = n // 2 if n % 2 == 0 else 3 * n + 1
...         steps += 1
...     return steps
>>> int(collatz(torch.tensor(27)))
111
"""

try:
    from .functions import autograph, compile
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError("agc.torch needs PyTorch. Install it: pip install 'agc-autograph[torch]'") from None

__all__ = ["autograph", "compile"]

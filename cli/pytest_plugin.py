"""A plugin of pytest: `pytest --agc model,layers` converts these modules when the tests import them.

Test modules and conftest files stay as they are, so assertions are rewritten and fixtures work as usual. Without the
option, the plugin imports nothing of agc.
"""

from __future__ import annotations

import sys
import warnings

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--agc`."""
    group = parser.getgroup("agc")
    group.addoption(
        "--agc",
        action="append",
        default=[],
        metavar="MODULES",
        help="Convert these modules or packages, separated by commas, when they are imported.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Install the import hook before the first conftest file is imported."""
    given = early_config.known_args_namespace.agc
    names = [name.strip() for part in given for name in part.split(",") if name.strip()]
    if not names:
        return
    from agc.autograph import install_import_hook

    for name in names:
        if name in sys.modules:
            warnings.warn(f"{name} is imported already, so --agc does not convert it", stacklevel=1)
    early_config.add_cleanup(install_import_hook(*names).uninstall)

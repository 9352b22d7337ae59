"""The modules of lowering rules (codegen/rule_registry.py). `codegen/rule_modules.py` has the operations of each."""

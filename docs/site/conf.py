"""Settings of Sphinx; `make docs` copies this file next to the assembled pages."""

from agc.autograph import __name__ as _of_the_package  # noqa: F401 - fails early if agc is not installed

project = "agc"
author = "agc contributors"
copyright = "agc contributors, Apache-2.0"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "agc"
html_static_path = ["static"]
html_extra_path = ["files"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
toc_object_entries = True
toc_object_entries_show_parents = "hide"
add_module_names = False
python_maximum_signature_line_length = 100
maximum_signature_line_length = 100
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
smartquotes = False
pygments_style = "friendly"
pygments_dark_style = "native"
exclude_patterns = ["files"]

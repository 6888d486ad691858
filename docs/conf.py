"""The documentation site: `python -m sphinx -W docs site` builds it, without a network.

Pages are Markdown (MyST), tutorials and pictures are scripts in examples/ that sphinx-gallery runs, and the reference
is made from the docstrings. `_extensions/` holds what is ours: formulas as MathML, docstrings as reStructuredText,
figures of scripts, and a report to walk through.
"""

import sys
from pathlib import Path

import bisimetric

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "bisimetric"
author = "the bisimetric authors"
copyright = "the bisimetric authors"
version = release = bisimetric.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "plain_docstrings",
    "mathml",
    "side_by_side",
    "sample_report",
]
exclude_patterns = ["_*", "figures.py", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "py:obj"  # `solve` in a docstring is a link, and text where there is no such name
suppress_warnings = ["ref.python"]  # a word in backticks that several classes have as an attribute

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # the sections say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_preprocess_types = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": ["../examples/tutorials", "../examples/pictures"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r"\.py$",
    "image_scrapers": ("figures_of_scripts.scraper",),
    "reset_modules": (),
    "capture_repr": ("_repr_html_", "__repr__"),
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
}

html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_theme = "pydata_sphinx_theme"
html_title = "bisimetric"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_search_summary = False  # summaries are fetched, which browsers refuse for files
wide = {"coming-from"}  # code side by side; tutorials and pictures have no contents at their side either
with_contents = [page.stem for page in Path(__file__).parent.glob("*.md") if page.stem not in wide]
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "secondary_sidebar_items": {page: ["page-toc"] for page in [*with_contents, "api/*"]},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

"""Views for people: pictures of distances, curves and maps, reports as web pages (`report`), and what notebooks
show (`notebook`).

May import everything up to the solutions and the folders beside them; nothing below imports it. This is
the only folder that imports matplotlib, textalloc and vl-convert, and only when something is drawn.
"""

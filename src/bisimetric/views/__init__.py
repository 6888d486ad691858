"""Views for people: pictures of distances, curves and maps.

May import everything up to the solutions and the folders beside them; nothing below imports it. This is
the only folder that imports matplotlib and scikit-learn, and only when something is drawn.
"""

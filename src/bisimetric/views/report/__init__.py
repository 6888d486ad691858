"""A solution as one HTML file that opens by double click and needs no network.

`page` writes the file; `payload` collects its numbers, with `pairs` for distances and couplings and `drawings` for the
two models; `library` has the charts' JavaScript from its package. `page.html`, `page.css`, `charts.js`, `page.js` and
`player.js` are the page itself. Text from outside reaches it as JSON and is shown as text, never as markup.
"""

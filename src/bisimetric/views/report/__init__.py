"""Answers as pages: one HTML file that opens by double click and needs no network.

`page.report` writes a file. It finds the kind of an answer in the table `PAGES` of `page` and has the module of that
kind make a `frame.Page`; `frame` turns a `Page` into HTML. Every page has the same head, content security policy,
summary, way to reproduce and scripts; what differs are the sections between them:

- `TableSection` and `ChartSection` are plain sections, made of Python data alone. A chart is a Vega-Lite specification.
  The frame sets its width and the colours of text. A mark with `"tooltip": True` shows the lines in the field `tip` of
  its datum. "--accent", "--ink", "--soft", "--bar" and other names in `assets/page.css` are colours of the scheme.
- `ScriptedSection` has a fixed fragment of HTML and scripts of its own, both in `assets/`. Its scripts read
  `Page.data` as `data` and say when to run with `onStart`, `onDraw` and `onDrawn` (`assets/frame.js`).

A new kind of report is one file here, with a function from the answer to a `Page`, and one line in `PAGES`:

    def comparison_page(answer: Comparison, *, names: object = None, command: str | None = None) -> Page:
        spec = {"data": {"values": [{"d": 0.2, "tip": ["resample 1", "distance 0.2"]}, ...]}, "height": 240,
                "mark": {"type": "bar", "color": "--bar", "tooltip": True}, "encoding": {...}}
        return Page(
            title="…", headline=Headline.interval(answer.distance, *answer.interval), meaning="one sentence",
            facts=[["Resamples", "200"]],
            sections=[ChartSection("null", "Without a difference", spec, label="what a screen reader says", hint="…"),
                      TableSection("changed", "What changed", ["State", "p"], [["idle", "0.01"]])],
            python=["comparison = bm.compare(…)", 'comparison.report("report.html")'], command=command)

`solution`, `answers` (horizons and long runs), `distances`, `aggregation` and `comparison` are such modules. They share
`pairs` (distances and couplings), `drawings` and `marks` (models), `likeness` (maps and trees) and `convergence`;
`library` has the charts' JavaScript from its package. Text from outside reaches a page as JSON and is shown as text,
never as markup: every string in a `Page` may hold anything, but for the keys of sections. `printable` (`_support.text`)
cuts long names and escapes control characters.
"""

"""The Lab: experiments on the visitor's sentence, on the lessons' stage. The page is `app_pages/lab.py`.

A bench is a folder in `benches`, here with the name `swap`; no other file names it:

    bench.toml                            its `order` on the page
    bench.py                              its numbers: a `BENCH`, see `bench.py` beside this file
    swap.js                               its scene, class `Swap`, a `Bench` of `js/bench.js`
    en.md, ko.md                          its words, one scene each
    labels.en.toml, labels.ko.toml        its labels, as `lesson_lab.KEY`
"""

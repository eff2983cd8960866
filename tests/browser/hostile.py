"""Strings that would do harm where text is taken for markup, script, template, path or format."""

from __future__ import annotations

OWN = "window.owned=1"
STRINGS = (
    f"</script><script>{OWN}</script>",
    f"<ScRiPt\n>{OWN}</sCrIpT\t>",
    f"<svg/onload={OWN}>",
    f"<img src=x onerror={OWN}>",
    f"\"><iframe srcdoc='<script>parent.{OWN}</script>'>",
    f"<a href='javascript:{OWN}'>a</a>",
    f"javascript:{OWN}",
    f"' onfocus='{OWN}' autofocus='",
    f"<style>@import 'https://example.org/{OWN}.css'</style>",
    "<img src=https://example.org/x.png>",
    "![x](https://example.org/x.png)",
    "[a](javascript:alert(1))",
    f"${{{OWN}}}",
    "{{constructor.constructor('alert(1)')()}}",
    "{query} {key} {head} {0} {} %s %n %(x)s",
    "&lt;b&gt; &amp; &#x3C; &#60;script&#62;",
    "<!-- <b> --> <![CDATA[ ]]>",
    "$\\href{javascript:alert(1)}{x}$ :material/warning: :red[x]",
    "'; DROP TABLE tokens; --",
    "../../../etc/passwd \\..\\x",
    "\u2028\u2029line",
    "\u202eright to left\u202c \u2066x\u2069",
    "zero\u200bwidth\u200d\ufeff",
    "e\u0301\u0302\u0303\u0304\u0305\u0306\u0307\u0308",
    "z" * 200,
    "__proto__ constructor toString",
)
# A half of a character; JSON can carry it, a text field cannot.
LONE = "\ud83d half"
SAFE = "() => [window.owned ?? null, document.title, [...document.querySelectorAll('iframe, object, embed')].length]"

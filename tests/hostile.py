"""Texts that would do harm where they are taken for markup, script, template, path, format or marks of a tokenizer."""

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
# Texts that break tokenizers and terminals rather than pages.
ODD = (
    *("", " ", "\n\t ", "</s>", "<s> </s> <pad> <unk>", ">>fra<< The man", ">>xxx<< The man", ">> a << b"),
    *("__de__ The dog", "<<SYS>>", "a\u0000b", "\u202eabc\u202c", "\ufeffThe man", "▁The▁man", "⁇", "ﬁnds ① Ａ"),
    *("e\u0301 u\u0308", "a" + "\u0300" * 20, "👩‍🔬 sees 🙂🙂🙂", "\U000e0041", "İstanbul ǅ ß ẞ", "x" * 300),
    *("한국어 문장입니다.", "日本語。", "שלום עולם", "سلام", "The    man \u3000 sees", "\u00a0The\u00a0man\u00a0"),
    *("'\"`´“”‘’", "1,234.56 % $ € \\ / {} []"),
)
# Lines of a file: of these texts, with line ends of other systems within, control characters, and no UTF-8.
LINES = (
    *(text.encode() for text in (*STRINGS, *ODD) if "\n" not in text),
    *(b"\r", b"\x00 \x01 \x1b[31m \x7f", b"a\x0bb\x0cc \x1c \x1d", b"carriage\rreturn", "a\u2028b\u0085d".encode()),
    *(b"\xff\xfe \xc3\x28 \xed\xa0\x80", b"{0} %s $(ls) `ls` ${HOME}", b"x" * 3_000, b"word " * 120),
)

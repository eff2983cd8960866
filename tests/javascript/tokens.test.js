// Tokens as they are read, and the text that they stand for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { joinTokens, tokenText } from "../../viz_app/components/common/text/tokens.js";

test("a token is read without the space before it, which alone is made visible", () => {
  assert.equal(tokenText("\u2581Haus"), "Haus");
  assert.equal(tokenText("es"), "es");
  assert.equal(tokenText("\u2581"), "\u2423");
  assert.equal(tokenText(""), "");
});

test("tokens make a text", () => {
  assert.equal(joinTokens(["\u2581Ein", "\u2581sch\u00f6n", "es", "\u2581Haus", "."]), "Ein sch\u00f6nes Haus.");
  assert.equal(joinTokens([]), "");
});

const FIELD = ".st-key-text textarea"; // of the sentence: TEXT_KEY in state/session.py
const MAX_CHARACTERS = 2_000; // of a sentence that still goes into the address: state/query_params.py

/**
 * Sets <html lang>, its colour scheme and the query of the address, without a new entry in the history.
 *
 * A page may go on in a new session, as after a restart of the server. Streamlit tells that session only the address
 * with which the page was opened, so that the page opens anew with the present one, and with the sentence in its field.
 * data: { params: { name: string | null }, language: string, page: string, session: string, glossary: string }
 * @param {{ data: any }} given
 */
export default function ({ data }) {
  document.documentElement.lang = data.language;
  document.documentElement.setAttribute("data-glossary", data.glossary); // for the definitions, which link to that page
  const app = document.querySelector("[data-testid=stApp]");
  if (app) document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme; // for dialogs, outside it
  const url = new URL(window.location.href);
  const known = document.documentElement.dataset.session;
  document.documentElement.dataset.session = data.session;
  const goesOn = known === undefined || known === data.session;
  for (const [name, value] of Object.entries(data.params)) {
    if (!goesOn && name !== "text") {
      continue;
    }
    if (value === null) {
      url.searchParams.delete(name);
    } else {
      url.searchParams.set(name, value);
    }
  }
  const field = /** @type {HTMLTextAreaElement | null} */ (document.querySelector(FIELD));
  if (!goesOn) {
    openAnew(url, field);
    return;
  }
  try {
    if (url.href !== window.location.href) window.history.replaceState(window.history.state, "", url);
  } catch {} // Safari takes 100 changes in half a minute; the next run tries again
  if (known !== undefined) return;
  goOnTyping(field);
  // Streamlit goes to the place of an address as soon as that is drawn; what stands above it changes its height later.
  document.fonts.ready.then(() => document.getElementById(window.location.hash.slice(1))?.scrollIntoView());
}

/**
 * Takes along what stands in the field, of which Python may not have heard yet, and where the cursor is.
 * @param {URL} url
 * @param {HTMLTextAreaElement | null} field
 */
function openAnew(url, field) {
  if (field && field.value.length <= MAX_CHARACTERS) url.searchParams.set("text", field.value);
  const cursor = field && field === document.activeElement ? field.selectionStart : null;
  window.history.replaceState({ ...window.history.state, cursor }, "", url);
  window.location.reload();
}

/** @param {HTMLTextAreaElement | null} field */
function goOnTyping(field) {
  const { cursor = null, ...state } = window.history.state ?? {};
  if (cursor === null) return;
  window.history.replaceState(state, "");
  field?.focus();
  field?.setSelectionRange(cursor, cursor);
}

/**
 * Sets <html lang>, its colour scheme and the query of the address, without a new entry in the history.
 *
 * A page may go on in a new session, as after a restart of the server. Streamlit tells that session only the address
 * with which the page was opened, so that the page opens anew with the present one, and with the sentence in its field.
 * data: { params: { name: string | null }, language: string, page: string, session: string }
 * @param {{ data: any }} given
 */
export default function ({ data }) {
  document.documentElement.lang = data.language;
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
  if (url.href !== window.location.href) {
    window.history.replaceState(window.history.state, "", url);
  }
  if (!goesOn) {
    window.location.reload();
  }
}

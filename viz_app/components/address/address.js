/**
 * Sets <html lang> and the query of the address, without a new entry in the history.
 * data: { params: { name: string | null }, language: string, page: string }
 * @param {{ data: any }} given
 */
export default function ({ data }) {
  document.documentElement.lang = data.language;
  const url = new URL(window.location.href);
  for (const [name, value] of Object.entries(data.params)) {
    if (value === null) {
      url.searchParams.delete(name);
    } else {
      url.searchParams.set(name, value);
    }
  }
  if (url.href !== window.location.href) {
    window.history.replaceState(window.history.state, "", url);
  }
}

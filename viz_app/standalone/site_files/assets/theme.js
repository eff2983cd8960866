// Before anything is drawn: the theme that the reader chose. A module would come too late.
try {
  const theme = JSON.parse(localStorage.getItem("headlight-site-theme") ?? "null");
  if (theme === "light" || theme === "dark") document.documentElement.setAttribute("data-theme", theme);
} catch {} // a closed storage: the theme of the system

// A script did not come, such as into a frame without the page's origin: the page says so and does not stay empty.
function complain() {
  const [note, about] = [document.querySelector(".page-note"), document.getElementById("page")];
  if (note && about) note.textContent = JSON.parse(about.textContent ?? "").missing;
}
/** @param {Event} event */
const notice = ({ target }) => target instanceof HTMLScriptElement && addEventListener("load", complain);
addEventListener("error", notice, true);

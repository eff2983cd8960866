// Before anything is drawn: the theme that the reader chose. A module would come too late.
try {
  const theme = JSON.parse(localStorage.getItem("headlight-site-theme") ?? "null");
  if (theme === "light" || theme === "dark") document.documentElement.setAttribute("data-theme", theme);
} catch {} // a closed storage: the theme of the system

// What HTML cannot do. Every page works without this file; it keeps the stream
// alive, says so when it is not, and gives buttons an answer at once.
(() => {
  "use strict";
  const retryEvery = 3000; // ms between tries to begin the stream
  const patience = 5000; // ms of silence before the page says that nobody answers
  const stream = () => document.getElementById("stream");
  const gone = document.getElementById("gone");
  let silence = 0;

  // A first connection that fails is never retried by hx-sse.
  setInterval(() => {
    const el = stream();
    if (el && !el._htmx?.sse && !document.hidden) el.dispatchEvent(new Event("hh:connect"));
  }, retryEvery);

  const lost = (event) => {
    const status = event.detail?.status ?? event.detail?.ctx?.response?.status;
    if (status === 401) {
      location.href = "/locked";
      return;
    }
    silence ||= setTimeout(() => { gone.hidden = false; }, patience);
  };
  const back = () => {
    clearTimeout(silence);
    silence = 0;
    gone.hidden = true;
  };
  const ofStream = (react) => (event) => { if (event.target === stream()) react(event); };
  for (const name of ["htmx:sse:error", "htmx:error", "htmx:response:error"]) document.addEventListener(name, ofStream(lost));
  document.addEventListener("htmx:sse:after:connection", ofStream(back));

  // The tab's icon follows the state.
  const icon = document.getElementById("tab-icon");
  document.addEventListener("htmx:sse:after:message", () => {
    const now = document.querySelector("#icon-now [data-icon]")?.dataset.icon;
    if (now && icon.getAttribute("href") !== now) icon.setAttribute("href", now);
  });

  // A pressed button answers at once and cannot be pressed twice. It comes back
  // by itself if the page stays and the state does not change it.
  document.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button?.dataset.busy) return;
    const label = button.textContent;
    setTimeout(() => {
      button.textContent = button.dataset.busy;
      button.disabled = true;
    });
    setTimeout(() => {
      if (button.textContent === button.dataset.busy) button.textContent = label;
      button.disabled = false;
    }, 2000);
  });

  // Menus close by Escape, by a click elsewhere and by their own buttons.
  const closeMenus = (except) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu === except) continue;
      const held = menu.contains(document.activeElement);
      menu.open = false;
      if (held) menu.querySelector("summary").focus();
    }
  };
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") closeMenus(); });
  document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu")));
})();

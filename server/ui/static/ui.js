// The page works without this script: it only searches while one types, moves by keys, copies, and follows the index.
"use strict";

const byId = (id) => document.getElementById(id);

// The index is still being opened: what was asked is asked again.
const OPENING = 503;
const AGAIN = 500;

// A later keystroke gives up what an earlier one asked for; one that comes while nothing is asked does not wait.
// An answer that comes while a later one waits is shown, but is not the last.
function lateOnly(wait, show) {
  let timer = 0;
  let running = null;
  const ask = async (address) => {
    timer = 0;
    running?.abort();
    const mine = (running = new AbortController());
    try {
      const answer = await fetch(address, { signal: mine.signal, headers: { Accept: "text/html" } });
      const text = await answer.text();
      const isLast = !timer && answer.status !== OPENING;
      if (mine === running) show(text, isLast);
      if (mine === running && !timer && !isLast) timer = setTimeout(ask, AGAIN, address);
    } catch (error) {
      if (error.name !== "AbortError") show("<p class='notes'>CQM does not answer: was it stopped?</p>", true);
    }
    if (mine === running) running = null;
  };
  return (address) => {
    clearTimeout(timer);
    if (running) timer = setTimeout(ask, wait, address);
    else ask(address);
  };
}

const questionOf = (form) => {
  const given = [...new FormData(form)].filter(([name, value]) => value !== "" && !(name === "mode" && value === "hybrid"));
  return new URLSearchParams(given).toString();
};

function tellCount(results) {
  const told = results.querySelector("[data-count]");
  if (byId("count")) byId("count").textContent = told ? told.dataset.count : "";
}

function searchAsYouType(form) {
  const results = byId("results");
  const ask = lateOnly(40, (text, isLast) => {
    results.innerHTML = text;
    tellCount(results);
    if (isLast) {
      results.removeAttribute("aria-busy");
      if (goesOn) results.querySelector(".hit")?.focus();
      goesOn = false;
    }
    results.dispatchEvent(new CustomEvent("shown"));
  });
  let asked = questionOf(form);
  let goesOn = false; // Enter came before the results that it is about.
  const look = () => {
    const now = questionOf(form);
    if (now === asked) return;
    asked = now;
    goesOn = false;
    ask(`results?${now}`);
    results.setAttribute("aria-busy", "true");
    history.replaceState(null, "", now ? `./?${now}` : "./");
  };
  form.addEventListener("input", look);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    look();
    if (results.hasAttribute("aria-busy")) goesOn = true;
    else results.querySelector(".hit")?.focus();
  });
  tellCount(results);
  if (results.querySelector(".opening")) ask(`results?${asked}`);
}

function cutAsYouSlide(form) {
  const shown = byId("cut");
  const ask = lateOnly(80, (text) => {
    shown.innerHTML = text;
  });
  form.addEventListener("input", (event) => {
    const told = event.target.closest("label")?.querySelector("output");
    if (told) told.value = event.target.value;
    const now = questionOf(form);
    history.replaceState(null, "", `preview?${now}`);
    ask(`cut?${now}`);
  });
}

async function copy(button) {
  const before = button.textContent;
  try {
    const answer = await fetch(button.dataset.copy);
    if (!answer.ok) throw new Error(answer.statusText);
    await navigator.clipboard.writeText(await answer.text());
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not copied";
  }
  setTimeout(() => {
    button.textContent = before;
  }, 1500);
}

function move(step) {
  const hits = [...document.querySelectorAll(".hit")];
  if (!hits.length) return;
  const at = hits.indexOf(document.activeElement?.closest(".hit"));
  const next = hits[Math.min(Math.max(at + step, 0), hits.length - 1)];
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const hit = document.activeElement?.closest(".hit");
  const isTyping = event.target.matches("input[type=search], input[type=text], select, textarea");
  if (isTyping) {
    if (event.key === "Escape") event.target.blur();
    if (event.key === "ArrowDown" && event.target.id === "q") {
      event.preventDefault();
      move(1);
    }
    return;
  }
  const actions = {
    "/": () => (byId("q") ? byId("q").select() : location.assign("./")),
    j: () => move(1),
    k: () => move(-1),
    o: () => hit?.querySelector("a.open")?.click(),
    c: () => hit?.querySelector("button.copy")?.click(),
    w: () => hit?.querySelector(".why summary")?.click(),
    "?": () => byId("keys").showModal(),
  };
  if (event.key === "Enter" && hit && document.activeElement === hit) hit.querySelector("a.place").click();
  else if (Object.hasOwn(actions, event.key)) {
    event.preventDefault();
    actions[event.key]();
  }
}

// Parts of a page that take a while come when the rest is there.
async function load(place) {
  try {
    const answer = await fetch(place.dataset.load);
    if (answer.status === OPENING) return setTimeout(load, AGAIN, place);
    place.innerHTML = await answer.text();
  } catch {
    place.textContent = "CQM does not answer: was it stopped?";
  }
  place.removeAttribute("aria-busy");
}

function follow(place) {
  const events = new EventSource(place.dataset.events);
  events.addEventListener("message", (event) => {
    place.innerHTML = event.data;
  });
  // The browser asks again by itself, also after an orderly end; only who does not answer then is gone.
  events.addEventListener("error", async () => {
    const answers = await fetch(place.dataset.page, { method: "HEAD" }).then((answer) => answer.ok, () => false);
    if (!answers && !place.querySelector(".gone"))
      place.insertAdjacentHTML("afterbegin", "<p class='notes gone' role='alert'>CQM does not answer: was it stopped? This is its last news.</p>");
  });
}

document.addEventListener("keydown", onKey);
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copy]");
  if (button) copy(button);
  if (event.target.closest("[data-keys]")) byId("keys").showModal();
});
document.querySelectorAll("[data-keys]").forEach((it) => (it.hidden = false));
document.querySelectorAll("form[data-search]").forEach(searchAsYouType);
document.querySelectorAll("form[data-cut]").forEach(cutAsYouSlide);
document.querySelectorAll("[data-load]").forEach(load);
document.querySelectorAll("[data-events]").forEach(follow);

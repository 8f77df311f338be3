// A page of CQM in the window of an agent's client (MCP Apps, 2026-01-26): it speaks JSON-RPC with the window around it.
"use strict";

const { tool, version } = document.body.dataset;
const view = document.getElementById("view");
const told = document.getElementById("told");
const waiting = new Map();
let last = 0;
let host = {};

const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method, params = {}) => post({ method, params });
const request = (method, params) =>
  new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    post({ id: last, method, params });
  });

// The style asks the system for light or dark; the client around this page may have chosen otherwise.
function takeTheme(context) {
  if (!context?.theme) return;
  document.documentElement.style.colorScheme = context.theme;
  for (const rule of document.styleSheets[0].cssRules) {
    if (rule instanceof CSSMediaRule && /prefers-color-scheme|^(not )?all$/.test(rule.media.mediaText)) {
      rule.media.mediaText = context.theme === "dark" ? "all" : "not all";
    }
  }
}

const textOf = (result) => (result?.content ?? []).map((it) => it.text ?? "").join("\n");

// What is drawn was written and escaped by CQM; anything else is shown as text.
function show(result) {
  const drawn = result?._meta?.["cqm/view"];
  told.textContent = "";
  if (typeof drawn === "string" && !result.isError) {
    view.innerHTML = drawn;
  } else {
    view.replaceChildren(Object.assign(document.createElement("pre"), { textContent: textOf(result) }));
  }
}

async function call(name, given) {
  told.textContent = "CQM is asked.";
  try {
    const result = await request("tools/call", { name, arguments: given });
    told.textContent = "";
    return result;
  } catch (error) {
    told.textContent = `This did not work: ${error.message}`;
    return null;
  }
}

async function ask() {
  const query = document.getElementById("query");
  const result = await call(tool, query ? { query: query.value } : {});
  if (result) show(result);
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && event.target.id === "query") ask();
});

document.addEventListener("click", async (event) => {
  if (event.target.closest("[data-ask]")) ask();
  const button = event.target.closest("button[data-read]");
  if (!button || !host.hostCapabilities?.serverTools) return;
  const result = await call("read", { what: button.dataset.read });
  if (!result) return;
  const hit = button.closest(".hit");
  hit.querySelector("pre.whole")?.remove();
  const text = textOf(result);
  hit.append(Object.assign(document.createElement("pre"), { className: "whole", textContent: text }));
});

const answers = { ping: () => ({}), "ui/resource-teardown": () => ({}) };
const heard = {
  "ui/notifications/tool-input": ({ arguments: given }) => {
    const input = document.getElementById("query");
    if (input && typeof given?.query === "string") input.value = given.query;
    told.textContent = "CQM is asked.";
  },
  "ui/notifications/tool-result": show,
  "ui/notifications/tool-cancelled": () => {
    told.textContent = "The call was cancelled.";
  },
  "ui/notifications/host-context-changed": takeTheme,
};

window.addEventListener("message", ({ source, data }) => {
  if (source !== window.parent || data?.jsonrpc !== "2.0") return;
  if (data.method && data.id !== undefined) {
    const answer = Object.hasOwn(answers, data.method) && answers[data.method];
    post(answer ? { id: data.id, result: answer() } : { id: data.id, error: { code: -32601, message: "Not here" } });
  } else if (data.method) {
    if (Object.hasOwn(heard, data.method)) heard[data.method](data.params ?? {});
  } else if (waiting.has(data.id)) {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error) reject(new Error(data.error.message));
    else resolve(data.result);
  }
});

async function begin() {
  host = await request("ui/initialize", {
    appInfo: { name: "cqm", version },
    appCapabilities: {},
    protocolVersion: "2026-01-26",
  });
  takeTheme(host.hostContext);
  // Where the client passes on no calls, nothing can be asked, and places are only names.
  document.getElementById("ask").hidden = !host.hostCapabilities?.serverTools;
  notify("ui/notifications/initialized");
  new ResizeObserver(() => {
    const { scrollWidth: width, scrollHeight: height } = document.documentElement;
    notify("ui/notifications/size-changed", { width, height });
  }).observe(document.body);
}

begin();

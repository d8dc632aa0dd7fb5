/* Benchwright: what the pages do beyond HTML. No dependencies; every page works without it.
   Deferred: nothing stands before the first paint; the theme is in the page as the cookie says. */
(() => {
  "use strict";
  const root = document.documentElement;
  const THEMES = ["auto", "light", "dark"];
  const NAMES = { auto: () => word("auto"), light: () => word("light"), dark: () => word("dark") };

  /* ---- Words: a page in another language than English brings those of its scripts along ---- */
  let known = null;
  const translated = (text) => {
    known ??= Object.assign({}, ...[...document.querySelectorAll("script[data-words]")].map((one) => JSON.parse(one.textContent)));
    return known[text];
  };
  const filled = (text, facts) => text.replace(/\{(\w+)\}/g, (whole, name) => facts[name] ?? whole);
  const word = (text, facts = {}) => filled(translated(text) ?? text, facts);
  // A translation has the forms that go with 1, with 2 and with 5: of these the one counted alike.
  const several = (one, many, n, facts = {}) => {
    const rules = new Intl.PluralRules(root.lang || "en");
    const form = [1, 2, 5].findIndex((sample) => rules.select(sample) === rules.select(n));
    return filled(translated(one)?.[form < 0 ? 2 : form] ?? (n === 1 ? one : many), { n, ...facts });
  };

  /* ---- Cookies: of a site below a path of its host they are called after that path ---- */
  const sitePath = new URL(document.currentScript.src).pathname.replace(/\/static\/benchmarks_app\/site\.js$/, "");
  const ownName = (name) => name + sitePath.replaceAll("/", ".");
  const cookie = (name) => document.cookie.split("; ").find((pair) => pair.startsWith(`${ownName(name)}=`))?.slice(ownName(name).length + 1) ?? "";

  /* ---- Theme: auto, light, dark; the server reads the cookie, but for pages of its failures ---- */
  const keptTheme = () => (THEMES.includes(cookie("theme")) ? cookie("theme") : "auto");
  const setTheme = (theme) => {
    root.dataset.theme = theme;
    document.cookie = `${ownName("theme")}=${theme}; path=${sitePath || "/"}; max-age=31536000; samesite=lax`;
    showTheme();
  };
  const showTheme = () => {
    for (const button of document.querySelectorAll("[data-theme-set]")) {
      button.setAttribute("aria-pressed", String(button.dataset.themeSet === root.dataset.theme));
    }
    for (const button of document.querySelectorAll("[data-theme-toggle]")) {
      const label = word("Theme: {theme}. Change", { theme: NAMES[root.dataset.theme]() });
      button.setAttribute("aria-label", label);
      button.title = label;
    }
  };

  /* ---- Toasts and spoken notes ---- */
  const toast = (text, kind = "") => {
    const area = document.querySelector(".toasts");
    if (!area) return;
    for (const same of [...area.children].filter((note) => note.textContent === text)) same.remove();
    const note = document.createElement("div");
    note.className = `toast ${kind ? `is-${kind}` : ""}`;
    note.textContent = text;
    area.append(note);
    setTimeout(() => note.remove(), kind === "bad" ? 12000 : 5000);
  };

  /* ---- Tables: header buttons sort; the number is in data-value, a time or the text ---- */
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
  const cellValue = (row, column) => {
    const cell = row.cells[column];
    const time = cell?.firstChild?.dateTime;
    return (cell?.dataset.value ?? (time ? String(Date.parse(time)) : cell?.textContent) ?? "").trim();
  };
  const asNumber = (text) => Number(text.replace(/[,\u202f\u00a0%]/g, "").replace("\u2212", "-"));
  const isBlank = (text) => ["", "-", "\u2013", "\u2014", "nan"].includes(text.toLowerCase());
  const sortBy = (table, header) => {
    const column = header.cellIndex;
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const values = new Map(rows.map((row) => [row, cellValue(row, column)]));
    const filled = [...values.values()].filter((value) => !isBlank(value));
    const numeric = filled.length > 0 && filled.every((value) => !Number.isNaN(asNumber(value)));
    const was = header.getAttribute("aria-sort");
    const down = was ? was === "ascending" : numeric; // Best number first, names from A.
    const compare = (a, b) => {
      const [x, y] = [values.get(a), values.get(b)];
      if (isBlank(x) || isBlank(y)) return isBlank(x) - isBlank(y); // Blanks stay last either way.
      const order = numeric ? asNumber(x) - asNumber(y) : collator.compare(x, y);
      return down ? -order : order;
    };
    body.append(...rows.sort(compare));
    for (const other of header.parentElement.cells) other.removeAttribute("aria-sort");
    header.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const prepareTable = (table) => {
    const headers = table.tHead?.rows[table.tHead.rows.length - 1]?.cells ?? [];
    for (const header of headers) {
      const done = header.querySelector("button, a, input");
      if (done || header.hasAttribute("data-nosort") || !header.textContent.trim()) continue;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...header.childNodes);
      header.append(button);
    }
  };

  /* ---- Times: the server writes UTC, the reader sees the local clock ---- */
  const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
  const relative = (date) => {
    const seconds = (date - Date.now()) / 1000;
    const words = new Intl.RelativeTimeFormat(root.lang || "en", { numeric: "auto" });
    const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? ["second", 1];
    return words.format(Math.trunc(seconds / size), unit);
  };
  const showTime = (element) => {
    const date = new Date(element.dateTime);
    if (!element.dateTime.includes("T") || Number.isNaN(date.valueOf())) return;
    const full = date.toLocaleString(root.lang, { dateStyle: "long", timeStyle: "long" });
    const styles = {
      relative: () => relative(date),
      date: () => date.toLocaleDateString(root.lang, { dateStyle: "medium" }),
      time: () => date.toLocaleTimeString(root.lang, { timeStyle: "short" }),
    };
    // Words are shorter: where facts wrap, what may have been seen already is not to move.
    const fact = element.closest(".facts > li");
    fact?.style.setProperty("--was", `${fact.getBoundingClientRect().width}px`);
    const style = styles[element.dataset.format];
    const both = () => date.toLocaleString(root.lang, { dateStyle: "medium", timeStyle: "short" });
    element.textContent = (style ?? both)();
    element.title = full;
  };

  /* ---- Confirmation: <button data-confirm="Question" data-confirm-ok="Delete">, or both on the form ---- */
  const confirmed = new WeakSet();
  const ask = (source, proceed) => {
    const dialog = document.createElement("dialog");
    const form = document.createElement("form");
    const text = document.createElement("p");
    const actions = document.createElement("div");
    form.method = "dialog";
    text.id = "confirm-text";
    text.textContent = source.dataset.confirm;
    actions.className = "actions";
    for (const [value, label, look] of [
      ["cancel", word("Cancel"), ""],
      ["ok", source.dataset.confirmOk, source.matches(".is-danger, :has(.is-danger)") ? "is-danger" : "is-primary"],
    ]) {
      const button = document.createElement("button");
      button.value = value;
      button.textContent = label;
      button.className = `button ${look}`;
      actions.append(button);
    }
    form.append(text, actions);
    dialog.append(form);
    dialog.setAttribute("aria-labelledby", text.id);
    document.body.append(dialog);
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (dialog.returnValue === "ok") proceed();
    });
    dialog.showModal();
  };
  const guard = (event, source, again) => {
    if (confirmed.delete(source)) return false;
    event.preventDefault();
    event.stopImmediatePropagation();
    ask(source, () => {
      confirmed.add(source);
      again();
    });
    return true;
  };

  /* ---- Uploads: progress by XHR; the answer replaces the page as a plain post would ---- */
  const megabytes = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
  const sized = (bytes) => (bytes < 1e5 ? `${Math.ceil(bytes / 1024)} KB` : `${megabytes(bytes)} MB`);
  const uploadNote = (form) => {
    let box = form.querySelector("[data-upload-note]");
    if (!box) {
      box = document.createElement("div");
      box.className = "progress";
      box.dataset.uploadNote = "";
      const bar = document.createElement("progress");
      bar.max = 100;
      bar.setAttribute("aria-label", word("Upload"));
      const text = document.createElement("p");
      text.className = "progress-text";
      text.setAttribute("role", "status");
      box.append(text, bar);
      form.append(box);
    }
    box.hidden = false;
    return { bar: box.querySelector("progress"), text: box.querySelector("[role=status]") };
  };
  const showAnswer = (request) => {
    const answer = new DOMParser().parseFromString(request.responseText, "text/html");
    const [here, there] = [document.querySelector(".shell"), answer.querySelector(".shell")];
    if (!there) return false;
    if (request.responseURL !== location.href) history.pushState({ replaced: true }, "", request.responseURL);
    document.title = answer.title;
    here.replaceWith(document.adoptNode(there));
    window.htmx?.process(there);
    prepare(there);
    there.querySelector("main")?.focus();
    scrollTo(0, 0);
    return true;
  };
  const upload = (form, submitter) => {
    const note = uploadNote(form);
    const request = new XMLHttpRequest();
    const buttons = [...form.querySelectorAll("button, input[type=submit]")];
    const failed = (message) => {
      note.bar.hidden = true;
      note.text.textContent = message;
      for (const button of buttons) button.disabled = false;
    };
    const data = new FormData(form, submitter);
    for (const button of buttons) button.disabled = true;
    note.bar.hidden = false;
    note.text.textContent = word("Uploading");
    request.upload.addEventListener("progress", ({ lengthComputable, loaded, total }) => {
      if (!lengthComputable) return note.bar.removeAttribute("value");
      const percent = Math.floor((100 * loaded) / total);
      note.bar.value = percent;
      const text = word("{percent}%: {n} of {total} MB sent", { percent, n: megabytes(loaded), total: megabytes(total) });
      if (note.text.textContent !== text) note.text.textContent = text;
    });
    request.upload.addEventListener("load", () => {
      note.bar.removeAttribute("value");
      note.text.textContent = word("Sent. The server is reading it.");
    });
    request.addEventListener("load", () => {
      if (showAnswer(request)) return;
      failed(word("The server refused the upload ({status}). Nothing was changed.", { status: request.status }));
    });
    request.addEventListener("error", () => failed(word("The connection was lost. Check it and send the file again.")));
    // A field may be called `method` or `action`, and then stands in the form's own place.
    request.open(form.getAttribute("method"), form.getAttribute("action") || location.href);
    request.send(data);
  };

  /* ---- Folders: what is dropped with its folders is sent with its paths ---- */
  const tellPaths = (input, name, paths) => {
    for (const old of input.form.querySelectorAll(`input[type=hidden][name="${name}"]`)) old.remove();
    for (const path of paths) {
      const hidden = document.createElement("input");
      Object.assign(hidden, { type: "hidden", name, value: path });
      input.after(hidden);
      input = hidden;
    }
  };
  const filesIn = async (entry) => {
    if (entry.isFile) return [[entry.fullPath.slice(1), await new Promise((good, bad) => entry.file(good, bad))]];
    const reader = entry.createReader();
    const found = [];
    // A reader hands out some entries at a time, and none at the end.
    for (let some; (some = await new Promise((good, bad) => reader.readEntries(good, bad))).length; ) {
      for (const inner of some) if (!inner.name.startsWith(".")) found.push(...(await filesIn(inner)));
    }
    return found;
  };
  const dropFolders = async (zone, entries) => {
    const input = zone.querySelector("input[type=file]");
    const files = (await Promise.all(entries.map(filesIn))).flat();
    const carrier = new DataTransfer();
    for (const [, file] of files) carrier.items.add(file);
    input.files = carrier.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
    tellPaths(input, "paths", files.map(([path]) => path));
  };

  /* ---- Keys of a page: none that somebody types, or presses in a dialog ---- */
  const TYPED_IN = "input:not([type=checkbox], [type=radio]), textarea, select, dialog, [contenteditable]";
  const isForPage = (event) =>
    !(event.defaultPrevented || event.isComposing || event.ctrlKey || event.altKey || event.metaKey || event.target.closest?.(TYPED_IN) || document.querySelector("dialog:modal"));

  /* ---- Copy: data-copy="#element" or data-copy="the text itself" ---- */
  // Without https a browser has no clipboard for a page, but for what is selected.
  const copySelected = (text) => {
    const area = document.createElement("textarea");
    const { activeElement } = document;
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    activeElement.focus({ preventScroll: true });
    if (!isCopied) throw new Error("not allowed");
  };
  const copy = async (button) => {
    const { copy: what } = button.dataset;
    const source = what.startsWith("#") ? document.querySelector(what) : null;
    const text = source ? (source.value ?? source.textContent) : what;
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(text);
      else copySelected(text);
      toast(word("Copied"));
    } catch {
      if (source) getSelection().selectAllChildren(source);
      toast(word("The browser did not allow copying. The text is selected: press Ctrl+C."), "bad");
    }
  };

  /* ---- Sidebar on small screens ---- */
  const toggleSidebar = (open) => {
    const button = document.querySelector("[data-sidebar-toggle]");
    const sidebar = document.getElementById("sidebar");
    if (!button || !sidebar) return;
    const isOpen = open ?? button.getAttribute("aria-expanded") !== "true";
    button.setAttribute("aria-expanded", String(isOpen));
    sidebar.classList.toggle("is-open", isOpen);
    if (isOpen) sidebar.querySelector("a")?.focus({ preventScroll: true });
  };

  /* ---- Wiring ---- */
  const prepare = (part) => {
    const all = (selector) => [...(part.matches?.(selector) ? [part] : []), ...part.querySelectorAll(selector)];
    all("table[data-sortable]").forEach(prepareTable);
    all("time[datetime]").forEach(showTime);
    all(".tabs [aria-current]").forEach((tab) => (tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.clientWidth / 2));
    /* Until this has run, the styles hide what it closes: nothing moves. */
    all("details[data-open-wide]:not([data-folded])").forEach((box) => {
      if (matchMedia("(max-width: 60rem)").matches) box.open = false;
      box.dataset.folded = "";
    });
  };
  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest?.(selector);
    const asking = on("a[data-confirm], button[data-confirm]");
    const isOfHtmx = asking?.matches("[hx-get], [hx-post], [hx-put], [hx-patch], [hx-delete]");
    const posts = asking?.form && asking.type === "submit" && !isOfHtmx; // Then the submit event asks.
    if (asking && !posts && guard(event, asking, () => asking.click())) return;
    if (on("[data-theme-toggle]")) setTheme(THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length]);
    if (on("[data-theme-set]")) setTheme(on("[data-theme-set]").dataset.themeSet);
    if (on("[data-copy]")) copy(on("[data-copy]"));
    if (on("[data-dismiss]")) on("[data-dismiss]").closest(".alert, dialog")?.remove();
    if (on("[data-sidebar-toggle]")) toggleSidebar();
    else if (!on("#sidebar")) toggleSidebar(false);
    if (on("th .sort")) sortBy(on("table"), on("th"));
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  }, true);
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    const asking = [submitter, form].find((element) => element?.dataset.confirm);
    if (asking && guard(event, asking, () => form.requestSubmit(submitter))) return;
    if (form.matches("[data-upload]")) {
      event.preventDefault();
      upload(form, submitter);
    }
  }, true);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
    if (document.querySelector("#sidebar.is-open")) {
      toggleSidebar(false);
      document.querySelector("[data-sidebar-toggle]").focus();
    }
  });
  for (const [name, isOver] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(name, (event) => event.target.closest?.(".dropzone")?.classList.toggle("is-over", isOver));
  }
  document.addEventListener("drop", (event) => {
    const zone = event.target.closest?.(".dropzone[data-takes-folders]");
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!zone || !entries.some((entry) => entry.isDirectory)) return;
    event.preventDefault();
    dropFolders(zone, entries).catch(() => toast(word("The folder could not be read. Zip it and drop the zip."), "bad"));
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches?.("[data-paths]")) {
      tellPaths(event.target, event.target.dataset.paths, [...event.target.files].map((file) => file.webkitRelativePath));
    }
    if (event.target.matches?.("[data-takes-folders] input[type=file]")) tellPaths(event.target, "paths", []);
    const names = event.target.closest?.(".dropzone")?.querySelector("[data-file-names]");
    if (names) names.textContent = [...event.target.files].map(({ name, size }) => `${name} (${sized(size)})`).join(", ");
  });
  // A page that is to be small names the palette's scripts, and loads them when somebody looks for something.
  const summonPalette = (event) => {
    const link = document.querySelector("[data-palette-scripts]");
    const isAsked = event.type === "click" ? event.target.closest?.("[data-palette]") && !event.shiftKey && !event.ctrlKey && !event.metaKey : (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
    if (!link || !isAsked) return;
    event.preventDefault();
    const sources = link.dataset.paletteScripts.split(" ");
    delete link.dataset.paletteScripts;
    const load = (src) => new Promise((onload, onerror) => document.head.append(Object.assign(document.createElement("script"), { src, async: false, onload, onerror })));
    Promise.all(sources.map(load)).then(() => link.click(), () => location.assign(link.href));
  };
  document.addEventListener("click", summonPalette);
  document.addEventListener("keydown", summonPalette);
  document.addEventListener("htmx:load", (event) => prepare(event.target));
  document.addEventListener("htmx:sendError", ({ detail }) => {
    const isAsking = detail.requestConfig.verb === "get"; // as live parts do by themselves
    toast(isAsking ? word("The server could not be reached: what this page shows may be old.") : word("The server could not be reached. Your last action was not saved."), "bad");
  });
  document.addEventListener("htmx:responseError", ({ detail }) => toast(word("The server answered with error {status}.", { status: detail.xhr.status }), "bad"));
  document.addEventListener("toast", ({ detail }) => toast(detail.text ?? detail.value, detail.kind));
  addEventListener("popstate", () => location.reload());
  document.addEventListener("DOMContentLoaded", () => {
    root.dataset.theme = keptTheme();
    showTheme();
    prepare(document.body);
  });
  window.benchwright = { toast, word, several, cookie, isForPage };
})();

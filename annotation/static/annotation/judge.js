/* The labeling page: one key grades and goes on, from memory; what was said leaves through the outbox (outbox.js).
   The first document is in the page as the server wrote it, and all of it works as plain forms without this script. */
(() => {
  "use strict";
  const { Outbox, uuid, toast, word, several } = window.benchwright;

  /* ---- What a key means, here and in practice: `{action, isLow}` of an event, or nothing ---- */
  const keyOf = (event) => {
    const pad = /^Numpad(\d)$/.exec(event.code);
    // With Num Lock off the pad's keys are arrows.
    if (pad) return /^\d$/.test(event.key) ? `Digit${pad[1]}` : "";
    // These two are signs rather than places: on many keyboards they lie elsewhere.
    const sign = { "?": "Shift+Slash", "/": "Slash" }[event.key];
    return sign ?? (event.shiftKey ? `Shift+${event.code}` : event.code);
  };
  const keyReader = (bindings) => {
    const byKey = new Map();
    for (const [action, keys] of Object.entries(bindings)) for (const key of keys) byKey.set(key, action);
    return (event) => {
      const key = keyOf(event);
      if (!key) return null;
      if (byKey.has(key)) return { action: byKey.get(key) };
      const unshifted = byKey.get(key.replace("Shift+", ""));
      return unshifted?.startsWith("grade-") ? { action: unshifted, isLow: true } : null;
    };
  };
  const isQuiet = (event) => event.defaultPrevented || event.repeat || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.altKey || event.metaKey;
  const isWriting = ({ target }) => target.isContentEditable || target.matches?.("textarea, select, input:not([type=radio], [type=checkbox])");
  const actsItself = ({ target, key }) => target.matches?.({ " ": "button, summary, input", Enter: "button, summary, input, a" }[key] ?? "none");
  window.benchwright.keys = { reader: keyReader, isQuiet, isWriting, actsItself };

  const screen = document.getElementById("judge-screen");
  if (!screen) return; // Practice has a script of its own.
  const data = JSON.parse(document.getElementById("judge-data").textContent);
  const HELD = 14; // so many documents, once there was time to fetch them, outlast a lost connection
  const UNDOABLE = 50;
  const SAME_MOMENT_MS = 8; // two keys that go down together mean one
  const REST_AFTER_MS = 50 * 60000;
  const PAUSE_MS = 5 * 60000;
  const STALE_MS = 15000;

  const part = (name) => screen.querySelector(`[data-part="${name}"]`);
  const show = (element, isShown) => element?.toggleAttribute("hidden", !isShown);
  const grades = new Map(data.grades.map((grade) => [grade.value, grade.name]));
  const article = document.getElementById("document");
  const form = part("form");
  const note = form.elements.note;
  const lowBox = form.elements.confidence;
  const isDialogOpen = () => document.querySelector("dialog:modal");

  let queue = [];
  let work = data.work;
  let progress = data.progress;
  const history = data.undoable.map((id) => ({ id })).reverse(); // oldest first
  const drafts = new Map(); // what was typed or marked, by document
  const settled = new Map(); // documents done in each query since the server counted
  let nBringingBack = 0;
  let nLabels = 0; // of this page, without those taken back
  let undoneAt = -Infinity;
  let doneBefore = data.progress.pool.done;
  let lastQuery = null;
  let current = null;
  let isFull = false;
  let wasFull = false;

  /* ---- Time on the document, without the time it was out of sight ---- */
  let shownAt = performance.now();
  let hiddenSince = null;
  let hiddenMs = 0;
  const startClock = () => {
    shownAt = performance.now();
    hiddenMs = 0;
    hiddenSince = document.hidden ? shownAt : null;
  };
  const dwell = () => Math.max(0, Math.round(performance.now() - shownAt - hiddenMs));
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = performance.now();
    else if (hiddenSince !== null) {
      hiddenMs += performance.now() - hiddenSince;
      hiddenSince = null;
    }
  });

  /* ---- What is said aloud: at once, and once the server has it ---- */
  const said = document.getElementById("judge-said");
  let unsaid = null;
  const say = (text) => {
    said.textContent = text;
  };
  const place = () => (current ? word("document {n} of {total}", { n: number(current), total: current.place.total }) : "");
  const announce = (id, words, isSaved) => {
    clearTimeout(unsaid?.timer);
    unsaid = null;
    const news = current && isNewQuery ? ` ${word("New query: {text}", { text: current.query.text || word("Image of the query") })}` : "";
    const next = place() || screen.querySelector("[data-work]:not([hidden]) h2")?.textContent || "";
    const done = isSaved ? word("{what} saved, {next}.", { what: words, next }) : word("{what} not saved yet, {next}.", { what: words, next });
    say(`${done}${news}`);
  };
  const announceSoon = (id, words) => {
    clearTimeout(unsaid?.timer);
    unsaid = { id, words, timer: setTimeout(() => announce(id, words, false), 1500) };
  };

  /* ---- The document ---- */
  let isNewQuery = false;
  const number = (item) => {
    const done = settled.get(item.query.key);
    return Math.min(item.place.total, Math.max(1, (done?.from ?? item.place.number) + (done?.n ?? 0)));
  };
  const count = (item, step) => {
    const done = settled.get(item.query.key) ?? { from: item.place.number, n: 0 };
    settled.set(item.query.key, { ...done, n: done.n + step });
  };
  const draftOf = (item) => {
    if (!drafts.has(item.key)) drafts.set(item.key, { note: stored(item.key), evidence: [], isLow: false });
    return drafts.get(item.key);
  };
  const storeName = (key) => `benchwright-note-${data.user}-${key}`;
  const stored = (key) => {
    try {
      return sessionStorage.getItem(storeName(key)) ?? "";
    } catch {
      return "";
    }
  };
  const store = (key, text) => {
    try {
      if (text) sessionStorage.setItem(storeName(key), text);
      else sessionStorage.removeItem(storeName(key));
    } catch { /* Kept for this page only. */ }
  };

  // What this browser keeps beyond the page, where it keeps anything.
  const recall = (name) => {
    try {
      return localStorage.getItem(name) ?? "";
    } catch {
      return "";
    }
  };
  const remember = (name, text) => {
    try {
      localStorage.setItem(name, text);
    } catch { /* For this page only. */ }
  };

  const speak = (element, { lang, dir }) => {
    element.lang = lang;
    element.dir = dir || "auto";
  };
  const imageOf = (image) => window.benchwright.imageFigure(part("image"), image);
  const paintQuery = ({ query }) => {
    isNewQuery = lastQuery !== null && lastQuery !== query.key;
    show(part("new-query"), isNewQuery);
    if (lastQuery === query.key) return;
    for (const name of ["query", "wanted"]) speak(part(name), query);
    part("query").textContent = query.text;
    show(part("query"), query.text);
    const { images: asked = [] } = query;
    show(part("query-images"), asked.length);
    part("query-images").replaceChildren(...asked.map((image) => imageOf({ ...image, alt: image.alt || word("Image of the query") })));
    part("description").textContent = query.description;
    part("narrative").textContent = query.narrative;
    show(part("description"), query.description);
    show(part("narrative"), query.narrative);
    show(part("intent"), query.description || query.narrative);
    lastQuery = query.key;
    openQuery(false);
  };
  const openQuery = (isOpen) => {
    part("query").classList.toggle("is-open", isOpen);
    part("query-more").setAttribute("aria-expanded", String(isOpen));
    part("query-more").textContent = isOpen ? word("Show less") : word("Show all");
    part("query").tabIndex = isOpen ? 0 : -1; // what is long even so is scrolled by keys, too
    fitQuery();
  };
  /* A long query is cut by the style sheet; the button is there where it is. */
  const fitQuery = () => {
    const text = part("query");
    const isOpen = text.classList.contains("is-open");
    show(part("query-more"), isOpen || text.scrollHeight > text.clientHeight + 1);
  };
  new ResizeObserver(fitQuery).observe(part("query"));
  const paintTerms = ({ document: { terms } }) => {
    show(part("terms"), terms.length);
    part("terms").querySelector("ul").replaceChildren(
      ...terms.map(([term, n]) => {
        const row = document.createElement("li");
        const button = document.createElement("button");
        const times = document.createElement("span");
        button.type = "button";
        button.className = "term";
        button.disabled = !n;
        button.dataset.find = term;
        button.textContent = term;
        times.className = "count";
        times.textContent = n;
        button.append(" ", times);
        row.append(button);
        return row;
      }),
    );
  };
  const paintFacts = ({ document: { facts = [] } }) => {
    show(part("facts"), facts.length);
    part("facts").replaceChildren(
      ...facts.map((pair) => {
        const row = document.createElement("li");
        const [key, value] = pair.map((text) => {
          const span = document.createElement("span");
          span.textContent = text;
          return span;
        });
        value.dir = "auto";
        row.append(key, " ", value);
        return row;
      }),
    );
  };
  const images = part("images");
  const paintImages = ({ document: { images: given = [] } }) => {
    show(images, given.length);
    images.replaceChildren(...given.map(imageOf));
  };
  const paintText = () => {
    const { document: shown } = current;
    const text = part("text");
    text.innerHTML = isFull || shown.is_whole ? shown.full : shown.excerpt;
    show(part("no-text"), !shown.full && !shown.images?.length);
    show(part("full-box"), !shown.is_whole);
    part("full").setAttribute("aria-expanded", String(isFull));
    part("full-label").textContent = isFull ? word("Show the excerpt") : word("Show the full text");
    part("n-chars").textContent = word("{n} characters", { n: shown.n_chars.toLocaleString("en") });
    paintEvidence();
  };
  const paintProgress = () => {
    if (current) {
      const n = number(current);
      part("place").textContent = word("Document {n} of {total}", { n: n.toLocaleString("en"), total: current.place.total.toLocaleString("en") });
      fill(part("place-bar"), (n - 1) / current.place.total);
    }
    const { pool, mine } = progress;
    // The server's count may be some seconds old; one's own labels are counted here.
    const isStale = performance.now() - undoneAt < STALE_MS; // may still count what was taken back
    if (!isStale) doneBefore = Math.max(doneBefore, pool.done - (nLabels - outbox.nLabels));
    const done = Math.max(0, Math.min(pool.total, doneBefore + nLabels));
    part("pool").textContent = word("Label {n} of {total}", { n: Math.min(done + 1, pool.total).toLocaleString("en"), total: pool.total.toLocaleString("en") });
    fill(part("pool-bar"), pool.total ? done / pool.total : 0);
    part("rate").textContent = trouble || rate(mine);
  };
  const fill = (bar, share) => bar.querySelector(".bar-fill").setAttribute("width", Math.round(1000 * share));
  const paint = () => {
    current = queue[0] ?? null;
    store("current", current?.key ?? "");
    closeFind();
    show(part("judge"), current);
    show(part("nothing"), !current);
    if (!current) return paintNothing();
    isFull = wasFull = false;
    paintQuery(current);
    const { document: shown, answer } = current;
    const title = document.getElementById("document-title");
    speak(part("body"), shown);
    title.innerHTML = shown.title || word("Document without a title");
    title.classList.toggle("sr-only", !shown.title);
    paintFacts(current);
    paintImages(current);
    paintText();
    paintTerms(current);
    show(part("later-mark"), current.is_later);
    show(part("answer"), answer);
    part("question").textContent = answer?.question ?? "";
    part("answer-text").textContent = answer?.answer ?? "";
    for (const input of form.querySelectorAll("input[name=grade]")) input.checked = false;
    const draft = draftOf(current);
    note.value = draft.note;
    lowBox.checked = draft.isLow;
    part("note").open = Boolean(draft.note);
    form.elements.token.value = current.token;
    paintProgress();
    if (screen.dataset.ready === "yes") {
      scrollTo(0, 0);
      article.focus({ preventScroll: true });
    }
    startClock();
  };

  /* ---- Nothing to judge ---- */
  const paintNothing = () => {
    const kind = isWaiting() ? "waiting" : work.state;
    for (const box of screen.querySelectorAll("[data-work]")) show(box, box.dataset.work === kind);
    for (const span of screen.querySelectorAll("[data-n-left]")) {
      span.textContent = work.n_left === 1 ? span.dataset.one : span.dataset.many.replace("{n}", work.n_left.toLocaleString("en"));
    }
    for (const time of work.until ? screen.querySelectorAll("[data-until]") : []) {
      time.dateTime = work.until;
      time.textContent = new Date(work.until).toLocaleTimeString(document.documentElement.lang, { timeStyle: "short" });
    }
    show(part("undo-nothing"), history.length && work.state !== "closed" && kind !== "waiting");
    // Only the old focus was on what is gone now.
    if (document.activeElement === document.body || !document.activeElement?.isConnected || article.contains(document.activeElement)) part("nothing").focus();
    lastQuery = null;
  };
  const LOOK_AGAIN_MS = 15000;
  setInterval(() => {
    const mayCome = ["ready", "held", "second_person", "paused", "waiting_answer"].includes(work.state);
    if (!current && mayCome && !document.hidden) outbox.refill();
  }, LOOK_AGAIN_MS);
  // More may come: the server has not answered yet to what was said last.
  const isWaiting = () => outbox.n > 0 || outbox.isRefilling || (work.state === "ready" && !queue.length);

  /* ---- Saying something about the document ---- */
  let saidAt = -1000;
  let pressedAt = 0; // when a key went down, not when its turn came: the page may have been busy
  for (const kind of ["keydown", "click"]) {
    document.addEventListener(kind, ({ timeStamp }) => { pressedAt = timeStamp; }, true);
  }
  const isSameMoment = () => pressedAt - saidAt < SAME_MOMENT_MS;
  const goOn = (event, words, keeps) => {
    const item = queue.shift();
    if (keeps) {
      history.push({ id: event.client_id, item, words });
      if (history.length > UNDOABLE) history.shift();
      count(item, 1);
      nLabels += 1;
    }
    outbox.put(event, { key: item.key, words });
    paint();
    announceSoon(event.client_id, words);
    keepAwake();
    saidAt = performance.now(); // painting may take longer than two keys are apart
  };
  const label = (what, words, isLow = false) => {
    if (!current || isSameMoment()) return;
    const draft = draftOf(current);
    const view = current.document.is_whole ? "whole" : wasFull ? "full" : "excerpt";
    const confidence = draft.isLow || isLow ? "low" : "";
    store(current.key, "");
    hurry.saw(dwell(), current.document.n_chars);
    const event = { client_id: uuid(), ...what, token: current.token, note: draft.note.trim(), evidence: draft.evidence, confidence, dwell_ms: dwell(), view };
    goOn(event, confidence ? word("{what} (not sure)", { what: words }) : words, true);
  };
  const grade = (value, isLow = false) => {
    if (grades.has(value)) label({ do: "grade", grade: value }, word("Grade {n}", { n: value }), isLow);
  };
  const cantJudge = (reason) => label({ do: "cant_judge", reason }, word("“Can't judge”"));
  const later = () => {
    if (!current || isSameMoment()) return;
    const { token } = current;
    history.push({ item: current, words: word("Put aside") });
    goOn({ client_id: uuid(), do: "later", token }, word("Put aside for later,"), false);
  };
  const ask = () => {
    const question = note.value.trim().replace(/^\?\s*/, "");
    if (!current || !question) return note.focus();
    store(current.key, "");
    drafts.delete(current.key);
    goOn({ client_id: uuid(), do: "ask", token: current.token, question }, word("Question to the owner"), false);
  };
  const undo = () => {
    const last = history.pop();
    if (!last) return say(word("Nothing to undo."));
    if (last.item) {
      queue = [last.item, ...queue.filter(({ key }) => key !== last.item.key)];
      if (last.id) count(last.item, -1);
    }
    if (last.id) {
      nLabels -= 1;
      undoneAt = performance.now();
      if (!last.item) nBringingBack += 1;
      outbox.put({ client_id: uuid(), do: "undo", undoes: last.id }, { key: last.item?.key ?? "", words: word("Undo") });
    }
    clearTimeout(unsaid?.timer);
    unsaid = null;
    if (!last.item) return say(word("Undone. The document comes back in a moment."));
    paint();
    say(word("Undone. Judge this document again, {place}.", { place: place() }));
    saved(word("Undone"), "is-pending");
  };

  /* ---- What the server answers ---- */
  const receive = (answer, entries) => {
    for (const one of answer.said) hear(one, entries.find(({ event }) => event.client_id === one.client_id));
    if (!answer.items) return;
    work = answer.work;
    progress = answer.progress;
    // What was taken back while the answer came is not this person's yet, as the server saw it.
    const gone = new Set(answer.gone.filter((key) => !outbox.isUndoing(key)));
    const before = current?.key;
    queue = queue.filter(({ key }) => !gone.has(key));
    if (before && gone.has(before)) toast(word("This document has gone to somebody else meanwhile; here is the next one."));
    take(answer.items);
    if (queue[0]?.key !== before || !current) paint();
    else paintProgress();
  };
  const take = (items) => {
    for (const item of items) {
      const known = queue.find(({ key }) => key === item.key);
      if (known) known.token = item.token;
      else if (!outbox.has(item.key)) add(item);
      if (known && known === current) form.elements.token.value = item.token;
    }
    nBringingBack = 0;
  };
  const add = (item) => {
    window.benchwright.loadAhead([...(item.query.images ?? []), ...(item.document.images ?? [])]);
    if (nBringingBack) return queue.unshift(item);
    // What was put aside comes after the others of its query.
    const at = item.is_later ? -1 : queue.findIndex((other) => other.is_later && other.query.key === item.query.key);
    queue.splice(at < 0 ? queue.length : at, 0, item);
    if (!settled.has(item.query.key)) settled.set(item.query.key, { from: item.place.number, n: 0 });
  };
  const hear = ({ client_id, state, code, message }, entry) => {
    if (unsaid?.id === client_id && state !== "refused") announce(client_id, unsaid.words, true);
    if (state === "extra") alarm(word("{what} is an extra label: the document had gone to somebody else, or the pool was closed. It is kept.", { what: entry.words }), "warn");
    if (state !== "refused" || code === "slot-of-another") return;
    const typed = [entry?.event.note, entry?.event.question].filter(Boolean).join(" ");
    const lost = word("{what} was not saved: {why}", { what: entry?.words ?? word("A judgment"), why: message });
    alarm(typed ? `${lost} ${word("You wrote: “{text}”", { text: typed })}` : lost, "bad");
    const at = history.findIndex(({ id }) => id === client_id);
    if (at >= 0) history.splice(at, 1);
  };
  const alarm = (text, kind) => {
    const box = part("alarm").content.firstElementChild.cloneNode(true);
    box.classList.add(`is-${kind}`);
    box.querySelector("[data-text]").textContent = text;
    part("alarms").append(box);
  };

  /* ---- Saved, not saved ---- */
  let trouble = "";
  const saved = (text, kind = "") => {
    const box = part("saved");
    box.className = `saved ${kind}`;
    box.textContent = text;
  };
  const unsaved = (n) => word("{n} not saved yet", { n });
  const STATES = {
    saved: () => saved(word("All saved")),
    saving: ({ n }) => saved(n > 1 ? unsaved(n) : word("Saving"), "is-pending"),
    waiting: ({ n }) => saved(n ? unsaved(n) : word("No connection"), "is-failed"),
    "signed-out": ({ n }) => saved(n ? unsaved(n) : word("Signed out"), "is-failed"),
    "other-user": ({ n }) => saved(n ? unsaved(n) : word("Signed out"), "is-failed"),
    refused: ({ n }) => saved(n ? unsaved(n) : word("Refused"), "is-failed"),
  };
  const WHY = {
    waiting: () => word("No connection. What you judge is kept on this device and sent when it is back."),
    refused: ({ text }) => text,
  };
  const onState = (state) => {
    STATES[state.kind](state);
    const isOut = state.kind === "signed-out" || state.kind === "other-user";
    show(part("signed-out"), isOut);
    trouble = WHY[state.kind]?.(state) ?? "";
    part("rate").textContent = trouble || rate(progress.mine);
    if (isOut) {
      const waits = state.n ? several("{n} entry waits on this device, and will be sent when you do.", "{n} entries wait on this device, and will be sent when you do.", state.n) : "";
      const told = state.kind === "signed-out"
        ? [word("You are signed out. Sign in again."), waits]
        : [word("Somebody else is signed in on this browser. Sign in again as yourself."), waits, word("Nothing of yours is sent under their name.")];
      part("signed-out-text").textContent = told.filter(Boolean).join(" ");
    }
    if (!current && !part("nothing").hidden) paintNothing();
  };

  /* ---- Find ---- */
  const finder = part("find");
  const field = finder.querySelector("input");
  let hits = [];
  let hitAt = -1;
  const hasHighlights = typeof Highlight === "function" && Boolean(CSS.highlights);
  const highlight = (name, ranges) => {
    if (hasHighlights) CSS.highlights.set(name, new Highlight(...ranges));
  };
  const textNodes = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let at = 0; walker.nextNode(); ) {
      found.push({ node: walker.currentNode, at });
      at += walker.currentNode.length;
    }
    return found;
  };
  const rangeOf = (nodes, start, end) => {
    const range = document.createRange();
    const holds = (at) => nodes.findLast((one) => one.at <= at) ?? nodes[0];
    const [first, last] = [holds(start), holds(end - 1)];
    range.setStart(first.node, start - first.at);
    range.setEnd(last.node, end - last.at);
    return range;
  };
  // The one letter that is two in small would move all places behind it.
  const plain = (text) => text.replaceAll("İ", "i").toLowerCase();
  const find = (words) => {
    const nodes = textNodes(part("text"));
    const text = plain(nodes.map(({ node }) => node.data).join(""));
    const wanted = plain(words);
    hits = [];
    for (let at = wanted ? text.indexOf(wanted) : -1; at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      hits.push(rangeOf(nodes, at, at + wanted.length));
    }
    highlight("found", hits);
    goToHit(0);
  };
  const goToHit = (at) => {
    hitAt = hits.length ? (at + hits.length) % hits.length : -1;
    const range = hits[hitAt];
    part("find-count").textContent = field.value ? word("{n} of {total}", { n: hitAt + 1, total: hits.length }) : "";
    highlight("found-here", range ? [range] : []);
    range?.startContainer.parentElement.scrollIntoView({ block: "center" });
  };
  const openFind = (words = field.value) => {
    if (!current) return;
    if (!current.document.is_whole && !isFull) toggleFull();
    show(finder, true);
    field.value = words;
    field.focus();
    field.select();
    find(words);
  };
  const closeFind = () => {
    if (finder.hidden) return;
    show(finder, false);
    field.value = "";
    hits = [];
    highlight("found", []);
    highlight("found-here", []);
    article.focus({ preventScroll: true });
  };
  field.addEventListener("input", () => find(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") {
      const hit = hits[hitAt];
      closeFind();
      if (hit) getSelection().setBaseAndExtent(hit.startContainer, hit.startOffset, hit.endContainer, hit.endOffset);
    } else goToHit(hitAt + (event.shiftKey ? -1 : 1));
  });

  /* ---- Full text ---- */
  const toggleFull = () => {
    if (!current || current.document.is_whole) return;
    isFull = !isFull;
    wasFull ||= isFull;
    paintText();
    say(isFull ? word("Full text.") : word("Excerpt."));
  };

  /* ---- Evidence: parts of the text, counted in characters of the full text (a string's own units are halves of some) ---- */
  const nChars = (text) => [...text].length;
  const fullText = () => {
    const box = document.createElement("template");
    box.innerHTML = current.document.full;
    return box.content.textContent;
  };
  const selected = () => {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0).cloneRange();
    const text = part("text");
    if (!text.contains(range.startContainer) || !text.contains(range.endContainer)) return null;
    const before = document.createRange();
    before.setStart(text, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const raw = range.toString();
    const words = raw.trim();
    return words ? { start: before.toString().length + raw.indexOf(words), words } : null;
  };
  const markEvidence = () => {
    if (!current) return;
    const mark = selected();
    if (!mark) return hint(word("Select some words of the text first, then mark them."));
    const isExcerpt = !current.document.is_whole && !isFull;
    const text = isExcerpt ? fullText() : part("text").textContent;
    const at = isExcerpt ? text.indexOf(mark.words) : mark.start;
    const isElsewhere = isExcerpt && text.indexOf(mark.words, at + 1) >= 0; // which of them is meant, the excerpt does not tell
    if (at < 0 || isElsewhere) {
      toggleFull();
      return hint(word("Mark it again in the full text."));
    }
    const { evidence } = draftOf(current);
    const start = nChars(text.slice(0, at));
    if (!evidence.some((span) => span.start === start && span.text === mark.words)) {
      evidence.push({ start, end: start + nChars(mark.words), text: mark.words });
    }
    getSelection().removeAllRanges();
    paintEvidence();
    hint(word("Marked as evidence: {text}", { text: mark.words }));
  };
  const hint = (text) => {
    say(text);
    toast(text);
  };
  const paintEvidence = () => {
    const { evidence } = draftOf(current);
    const text = part("text");
    const nodes = textNodes(text);
    const whole = nodes.map(({ node }) => node.data).join("");
    const isExcerpt = !current.document.is_whole && !isFull;
    const ranges = evidence.flatMap((span) => {
      const start = isExcerpt ? whole.indexOf(span.text) : [...whole].slice(0, span.start).join("").length;
      return start < 0 || start + span.text.length > whole.length ? [] : [rangeOf(nodes, start, start + span.text.length)];
    });
    highlight("evidence", ranges);
    show(part("evidence"), evidence.length);
    part("evidence").querySelector("ul").replaceChildren(
      ...evidence.map((span, at) => {
        const chip = part("evidence-chip").content.firstElementChild.cloneNode(true);
        chip.querySelector("q").textContent = span.text;
        chip.querySelector("button").dataset.evidence = at;
        return chip;
      }),
    );
  };

  /* ---- Note, guideline, dialogs ---- */
  note.addEventListener("input", () => {
    if (!current) return;
    draftOf(current).note = note.value;
    store(current.key, note.value);
  });
  lowBox.addEventListener("change", () => {
    if (current) draftOf(current).isLow = lowBox.checked;
  });
  note.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    const isDone = event.key === "Escape" || (event.key === "Enter" && !event.shiftKey);
    if (!isDone) return;
    event.preventDefault();
    if (event.key === "Enter" && note.value.trimStart().startsWith("?")) return ask();
    if (!note.value.trim()) part("note").open = false;
    article.focus({ preventScroll: true });
  });
  const openNote = () => {
    part("note").open = true;
    note.focus();
  };
  /* Beside the document where there is room, unless it was hidden; else above it, when asked for. */
  const guideline = part("guideline");
  const isBeside = matchMedia("(min-width: 80rem)");
  const GUIDELINE = "benchwright-guideline";
  const fitGuideline = () => {
    guideline.open = isBeside.matches && recall(GUIDELINE) !== "hidden";
  };
  isBeside.addEventListener("change", fitGuideline);
  const toggleGuideline = (isOpen = !guideline.open) => {
    guideline.open = isOpen;
    if (isBeside.matches) remember(GUIDELINE, isOpen ? "" : "hidden");
    if (isOpen && !isBeside.matches) {
      guideline.querySelector("[tabindex]").focus({ preventScroll: true });
      guideline.scrollIntoView({ block: "nearest" });
    } else if (guideline.contains(document.activeElement) || document.activeElement === document.body) article.focus({ preventScroll: true });
  };
  const toggleDialog = (id) => {
    const dialog = document.getElementById(id);
    if (dialog.open) return dialog.close();
    dialog.showModal();
  };
  const cantJudgeDialog = document.getElementById("cant-judge");

  /* ---- Keys ---- */
  const ACTIONS = {
    full: toggleFull,
    find: () => openFind(),
    evidence: markEvidence,
    note: openNote,
    later,
    "cant-judge": () => current && toggleDialog("cant-judge"),
    undo,
    guideline: () => toggleGuideline(),
    keys: () => toggleDialog("judge-keys"),
  };
  const actionOf = keyReader(data.keys.bindings);
  const inDialog = (event, dialog) => {
    if (dialog.id === "judge-keys" && actionOf(event)?.action === "keys") return dialog.close();
    const digit = /^Digit(\d)$/.exec(keyOf(event))?.[1];
    // A digit means a reason here, never a grade.
    const button = digit && dialog.querySelector(`[data-digit="${digit}"]`);
    button?.click();
    return button;
  };
  document.addEventListener("keydown", (event) => {
    if (isQuiet(event)) return;
    if (event.key.startsWith("Arrow") && event.target.matches?.("[type=radio]")) isArrowing = true;
    const dialog = isDialogOpen();
    if (event.key === "Escape" && !dialog) return closeSomething();
    if (!data.keys.is_on || isWriting(event) || actsItself(event)) return;
    if (dialog) return void (inDialog(event, dialog) && event.preventDefault());
    const found = actionOf(event);
    if (!found) return;
    if (found.action === "full" && (!current || current.document.is_whole)) return; // Space scrolls.
    event.preventDefault();
    const value = /^grade-(\d+)$/.exec(found.action)?.[1];
    if (value !== undefined) grade(Number(value), Boolean(found.isLow));
    else ACTIONS[found.action]();
  });
  const closeSomething = () => {
    if (!finder.hidden) closeFind();
    else if (guideline.open && !isBeside.matches) toggleGuideline(false);
  };
  // The captions of the keyboard at hand, where the browser tells them.
  navigator.keyboard?.getLayoutMap?.().then((layout) => {
    for (const key of document.querySelectorAll("kbd[data-code]")) {
      const caption = layout.get(key.dataset.code);
      if (caption) key.textContent = caption;
    }
  }).catch(() => {});

  /* ---- Pointers ---- */
  let isArrowing = false;
  document.addEventListener("keyup", () => {
    isArrowing = false;
  });
  form.addEventListener("click", (event) => {
    // The second half of a double click would fall on a document that nobody has read yet.
    if (event.detail > 1 && event.target.closest(".grade-buttons")) return event.preventDefault();
    const radio = event.target.closest("input[name=grade]");
    // Arrows only choose among the grades; Enter then gives the one that is chosen.
    if (radio && !isArrowing) grade(Number(radio.value));
  });
  form.addEventListener("submit", (event) => {
    const { submitter } = event;
    if (submitter?.dataset.do === "stop") return stop(event);
    event.preventDefault();
    if (submitter?.dataset.do) return DOING[submitter.dataset.do]();
    const chosen = form.querySelector("input[name=grade]:checked");
    if (chosen) grade(Number(chosen.value));
  });
  const DOING = { undo, later, ask };
  const stop = async (event) => {
    if (!outbox.nToSend) return;
    event.preventDefault();
    say(word("Saving before you leave."));
    outbox.soon();
    for (let tries = 0; outbox.nToSend && tries < 30; tries += 1) await new Promise((resolve) => setTimeout(resolve, 100));
    if (outbox.nToSend) return alarm(several("{n} label not saved yet. It stays on this device; open this page again later to send it.", "{n} labels not saved yet. They stay on this device; open this page again later to send them.", outbox.nToSend), "warn");
    form.requestSubmit(event.submitter);
  };
  cantJudgeDialog.addEventListener("submit", (event) => {
    event.preventDefault();
    const other = cantJudgeDialog.querySelector("[name=other]");
    const reason = other.value.trim() || event.submitter?.value || "";
    if (!reason) return other.focus();
    cantJudgeDialog.close();
    other.value = "";
    cantJudge(reason);
  });
  document.addEventListener("click", (event) => {
    const on = (selector) => event.target.closest(selector);
    const opener = on("[data-open]");
    const closer = on("dialog [data-close]");
    if (opener || closer) event.preventDefault();
    if (opener) toggleDialog(opener.dataset.open);
    if (closer) closer.closest("dialog").close();
    const doer = on("button[data-act], a[data-act]");
    if (doer) {
      event.preventDefault();
      ACTS[doer.dataset.act](doer);
    }
    if (on("[data-find]")) openFind(on("[data-find]").dataset.find);
    if (on("[data-evidence]")) {
      draftOf(current).evidence.splice(Number(on("[data-evidence]").dataset.evidence), 1);
      paintEvidence();
      article.focus({ preventScroll: true });
    }
  });
  const ACTS = {
    full: () => toggleFull(),
    query: () => openQuery(!part("query").classList.contains("is-open")),
    paced: () => hurry.dismiss(),
    undo: () => undo(),
    evidence: () => markEvidence(),
    find: () => openFind(),
    "find-next": () => goToHit(hitAt + 1),
    "find-close": () => closeFind(),
    "close-guideline": () => toggleGuideline(false),
    "try-again": () => {
      outbox.refill();
      paintNothing();
    },
    rested: () => {
      rest.since = Date.now();
      keepRest();
      show(part("rest"), false);
    },
  };
  // A press on the button must not lose the selection that is to be marked.
  for (const button of screen.querySelectorAll('[data-act="evidence"]')) button.addEventListener("pointerdown", (event) => event.preventDefault());

  /* ---- Pace and rest: one's own, for oneself ---- */
  const session = { n: 0, ms: 0, at: 0 };
  const restName = `benchwright-rest-${data.user}`;
  let rest = { since: Date.now(), last: Date.now() };
  try {
    rest = { ...rest, ...JSON.parse(recall(restName)) };
  } catch { /* Counted from now. */ }
  const keepRest = () => remember(restName, JSON.stringify(rest));
  const keepAwake = () => {
    const now = Date.now();
    if (now - rest.last > PAUSE_MS) rest.since = now;
    rest.last = now;
    keepRest();
    session.n += 1;
    if (session.at && now - session.at < PAUSE_MS) session.ms += now - session.at;
    session.at = now;
    if (now - rest.since >= REST_AFTER_MS) show(part("rest"), true);
  };
  /* Faster than anybody skims, label after label: said once, softly, and again after many more labels. */
  const hurry = {
    recent: [],
    quiet: 0,
    saw(ms, chars) {
      const { reaction, chars_per_second: speed, chars: most, window: size, share } = data.skimming;
      const isHasty = ms < 1000 * (reaction + Math.min(chars, most) / speed);
      this.recent = [...this.recent, { ms, isHasty }].slice(-size);
      this.quiet -= 1;
      if (this.quiet > 0 || this.recent.length < size) return;
      if (this.recent.filter((one) => one.isHasty).length < share * size) return this.hide();
      const middle = this.recent.map((one) => one.ms).sort((a, b) => a - b)[size >> 1] / 1000;
      part("pace-text").textContent = word("You are reading very fast: the last {n} documents took you {seconds} seconds each.", { n: size, seconds: middle.toFixed(1) });
      show(part("pace"), true);
    },
    hide() {
      show(part("pace"), false);
    },
    dismiss() {
      this.quiet = 3 * data.skimming.window;
      this.recent = [];
      this.hide();
      article.focus({ preventScroll: true });
    },
  };
  const inWords = (seconds) => {
    if (seconds < 90) return word("about a minute");
    if (seconds < 5400) return word("about {n} minutes", { n: Math.round(seconds / 60) });
    return word("about {n} hours", { n: (seconds / 3600).toFixed(1) });
  };
  const rate = (mine) => {
    const words = [];
    if (session.n > 1 && session.ms) words.push(word("{n} this session, {seconds} s each", { n: session.n, seconds: (session.ms / 1000 / (session.n - 1)).toFixed(session.ms / (session.n - 1) < 9950 ? 1 : 0) }));
    else if (mine.n) words.push(word("{n} by me", { n: mine.n.toLocaleString("en") }));
    if (mine.seconds_left !== null) words.push(word("{time} left", { time: inWords(mine.seconds_left) }));
    return words.join(" · ");
  };

  /* ---- Start ---- */
  const outbox = new Outbox({
    user: data.user,
    url: data.exchange_url,
    sessionUrl: data.session_url,
    wants: () => ({ have: queue.map(({ key }) => key), want: nBringingBack ? 0 : HELD }),
    onAnswer: receive,
    onState,
  });
  // On the way to sign in there is nothing to warn of: what is not saved yet stays on this device.
  let isSigningIn = false;
  part("signed-out").querySelector("a").addEventListener("click", () => {
    isSigningIn = true;
  });
  addEventListener("beforeunload", (event) => {
    if (outbox.nToSend && !isSigningIn) event.preventDefault();
  });
  const start = async () => {
    const left = await outbox.open();
    // Said before the page was left, and not sent yet.
    const done = new Set(left.filter(({ event }) => event.do !== "undo").map(({ key }) => key));
    for (const item of data.items) if (!done.has(item.key)) add(item);
    // Who loads the page again goes on with the document they were at.
    const at = queue.findIndex(({ key }) => key === stored("current"));
    if (at > 0 && !new URLSearchParams(location.search).has("doc")) queue.unshift(...queue.splice(at, 1));
    for (const element of screen.querySelectorAll("[data-script]")) element.hidden = false;
    fitGuideline();
    const openDialog = cantJudgeDialog.open;
    cantJudgeDialog.close();
    paint();
    performance.mark("grades-usable");
    screen.dataset.ready = "yes";
    if (openDialog && current) cantJudgeDialog.showModal();
    if (left.length) outbox.send();
  };
  start();
})();

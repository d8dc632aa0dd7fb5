/* The outbox of the labeling page: what was said about documents stays on this device, under the key of the person
   who said it, until the server has answered for it. One tab sends at a time, in the order in which things were said. */
(() => {
  "use strict";
  const RETRY_MS = [500, 1000, 2000, 4000, 8000];
  const SESSION_MS = 4000;
  const PATIENCE_MS = 20000;
  const MOST_AT_ONCE = 100;
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

  /* ---- The shelf: IndexedDB, or the page's memory where the browser allows none ---- */
  const promised = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  const opened = () => {
    const request = indexedDB.open("benchwright-outbox", 1);
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore("entries", { keyPath: "number", autoIncrement: true });
      store.createIndex("user", "user");
    };
    return promised(request);
  };
  class Shelf {
    static async open() {
      const shelf = new Shelf();
      try {
        shelf.base = await Promise.race([opened(), wait(2000).then(() => Promise.reject(new Error("no answer")))]);
      } catch {
        shelf.base = null;
      }
      return shelf;
    }
    store(mode) {
      return this.base.transaction("entries", mode).objectStore("entries");
    }
    async add(entry) {
      entry.number = await promised(this.store("readwrite").add({ ...entry }));
    }
    async all(user) {
      return promised(this.store("readonly").index("user").getAll(user));
    }
    async remove(numbers) {
      const store = this.store("readwrite");
      await Promise.all(numbers.map((number) => promised(store.delete(number))));
    }
  }

  /* ---- Who is signed in ---- */
  // From the cookie each time: it changes with every sign-in, which is how another tab's is noticed.
  const cookie = () => window.benchwright.cookie("csrftoken");

  /* ---- The outbox of one person in one tab ----
     `user` the person's key; `url` where this page sends; `sessionUrl` tells who is signed in;
     `wants()` gives {have, want} of this page; `onAnswer(answer, entries)` after each exchange;
     `onState({kind, n, text})`: saved, saving, waiting, signed-out, other-user or refused. */
  class Outbox {
    constructor({ user, url, sessionUrl, wants, onAnswer, onState }) {
      Object.assign(this, { user, url, sessionUrl, wants, onAnswer, onState });
      this.entries = new Map(); // by client id: what is not saved yet, of every tab
      this.onTheWay = new Set(); // client ids of this tab that are not on the shelf yet
      this.cookie = cookie();
      this.isSure = true; // that this person is the one who is signed in
      this.tries = 0;
      this.timer = null;
      this.isSending = false;
      this.isAsked = false;
      this.isRefilling = false;
      this.refusing = new Set(); // addresses that took nothing when last asked
      this.state = { kind: "saved", text: "" };
    }
    async open() {
      this.shelf = await Shelf.open();
      for (const entry of await this.shelf.all(this.user).catch(() => [])) this.entries.set(entry.event.client_id, entry);
      this.listen();
      this.say(this.entries.size ? "saving" : "saved");
      return [...this.entries.values()];
    }
    listen() {
      try {
        this.channel = new BroadcastChannel(`benchwright-outbox-${this.user}`);
        this.channel.onmessage = ({ data }) => this.hear(data);
      } catch { /* Other tabs learn of it when they send. */ }
      const soon = () => this.soon();
      addEventListener("online", soon);
      addEventListener("focus", soon);
      addEventListener("pageshow", ({ persisted }) => {
        if (persisted) this.isSure = false;
        soon();
      });
    }
    hear({ added, removed }) {
      if (added) this.entries.set(added.event.client_id, { ...added, isOfOtherTab: true });
      for (const id of removed ?? []) this.entries.delete(id);
      const { kind, text } = this.state;
      if (this.n) this.say(kind === "saved" ? "saving" : kind, text);
      else this.say("saved");
    }
    tell(message) {
      this.channel?.postMessage(message);
    }
    say(kind, text = "") {
      this.state = { kind, text };
      this.onState({ kind, text, n: this.n });
    }
    get n() {
      return this.entries.size;
    }
    /* Of them, those that a moment more may save: what another pool refuses stays on this device. */
    get nToSend() {
      const isLeft = ({ url, number }) => number && url !== this.url && this.refusing.has(url);
      return [...this.entries.values()].filter((entry) => !isLeft(entry)).length;
    }
    /* Labels of this page on their way. */
    get nLabels() {
      const steps = { grade: 1, cant_judge: 1, undo: -1 };
      const here = [...this.entries.values()].filter(({ url }) => url === this.url);
      return here.reduce((sum, { event }) => sum + (steps[event.do] ?? 0), 0);
    }
    has(key) {
      return [...this.entries.values()].some((entry) => entry.key === key && entry.event.do !== "undo");
    }
    isUndoing(key) {
      return [...this.entries.values()].some((entry) => entry.key === key && entry.event.do === "undo");
    }

    /* Takes effect at once; the promise ends when it is on the shelf. */
    put(event, { key = "", words = "" } = {}) {
      const entry = { user: this.user, url: this.url, key, words, event };
      this.entries.set(event.client_id, entry);
      this.tell({ added: entry });
      if (this.state.kind === "saved") this.say("saving");
      else this.say(this.state.kind, this.state.text);
      this.onTheWay.add(event.client_id);
      const shelved = this.shelf.add(entry).catch(() => {});
      shelved.then(() => {
        this.onTheWay.delete(event.client_id);
        // Somebody is at work: what failed is tried again sooner.
        this.tries = 0;
        if (this.timer === null) this.send();
        else this.soon();
      });
      return shelved;
    }
    refill() {
      this.isRefilling = true;
      this.send();
    }
    /* Try again now rather than when the clock says so. */
    soon() {
      if (this.timer === null) return;
      clearTimeout(this.timer);
      this.timer = null;
      this.send();
    }
    /* Ends when everything is saved, or at the first failure. */
    async send() {
      if (this.timer !== null) return; // It is tried again in a moment anyway.
      this.isAsked = true;
      if (this.isSending) return;
      this.isSending = true;
      try {
        while (this.isAsked && this.timer === null) {
          this.isAsked = false;
          await this.locked(() => this.sendAll());
        }
      } finally {
        this.isSending = false;
      }
    }
    locked(work) {
      // Web Locks need HTTPS or this machine; without them repetitions are still harmless.
      return navigator.locks ? navigator.locks.request(`benchwright-outbox-${this.user}`, work) : work();
    }
    async waiting() {
      const shelved = await this.shelf.all(this.user).catch(() => null);
      const here = () => [...this.entries.values()].filter(({ event }) => !this.onTheWay.has(event.client_id));
      // No shelf, or one that cannot be read any more: each tab sends what it knows itself.
      if (!shelved) return here().filter(({ isOfOtherTab }) => !isOfOtherTab);
      const known = new Set(shelved.map((entry) => entry.event.client_id));
      // What another tab has sent meanwhile is no longer on the shelf.
      for (const [id, entry] of this.entries) {
        if ((entry.number || entry.isOfOtherTab) && !known.has(id)) this.entries.delete(id);
      }
      return [...shelved, ...here().filter(({ number, event }) => !number && !known.has(event.client_id))];
    }
    async sendAll() {
      const entries = await this.waiting();
      const urls = [...new Set(entries.map((entry) => entry.url))];
      if (this.isRefilling && !urls.includes(this.url)) urls.push(this.url);
      for (const url of urls) {
        const own = entries.filter((entry) => entry.url === url);
        for (let at = 0; at === 0 || at < own.length; at += MOST_AT_ONCE) {
          if (await this.exchange(url, own.slice(at, at + MOST_AT_ONCE))) {
            this.refusing.delete(url);
            continue;
          }
          if (this.state.kind !== "refused") return;
          this.refusing.add(url);
          break; // What one pool refuses holds up no other.
        }
      }
      if (this.timer !== null) this.say(this.state.kind, this.state.text);
      else this.say(this.n ? "saving" : "saved");
    }
    async exchange(url, entries) {
      if (!(await this.isThem())) return false;
      const isHere = url === this.url;
      const { have, want } = isHere ? this.wants() : { have: [], want: 0 };
      if (isHere) this.isRefilling = false;
      try {
        const answer = await fetch(url, {
          method: "POST",
          headers: { "Content-Type": "application/json", "X-CSRFToken": cookie() },
          body: JSON.stringify({ say: entries.map(({ event }) => event), have, want }),
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        if (isHere && !answer.ok) this.isRefilling ||= want > 0;
        if (answer.status >= 500 || answer.status === 429) throw new Error(`status ${answer.status}`);
        const said = await this.read(answer);
        return said ? await this.heard(said, entries, isHere) : false;
      } catch {
        if (isHere && want) this.isRefilling = true;
        this.again("waiting");
        return false;
      }
    }
    async read(answer) {
      if (answer.redirected) return this.unsure("signed-out"); // To the page for signing in.
      const said = await answer.json().catch(() => ({}));
      if (answer.ok && said.said) return said;
      if (answer.status === 401 || said.code === "csrf") return this.unsure("signed-out");
      this.again("refused", said.message ?? window.benchwright.word("The server answered {status}.", { status: answer.status }));
      return null;
    }
    async heard(answer, entries, isHere) {
      const byId = new Map(answer.said.map((said) => [said.client_id, said]));
      const settled = entries.filter(({ event }) => {
        const said = byId.get(event.client_id);
        return said && said.code !== "slot-of-another";
      });
      await this.forget(settled);
      this.tries = 0;
      if (isHere) this.onAnswer(answer, entries);
      else this.onAnswer({ said: answer.said }, entries);
      if (settled.length === entries.length) return true;
      if (answer.said.some(({ code }) => code === "slot-of-another")) this.unsure("other-user");
      else this.again("waiting");
      return false;
    }
    async forget(entries) {
      const ids = entries.map(({ event }) => event.client_id);
      for (const id of ids) this.entries.delete(id);
      const numbers = entries.map(({ number }) => number).filter(Boolean);
      if (numbers.length) await this.shelf.remove(numbers).catch(() => {});
      this.tell({ removed: ids });
    }

    /* Whether the person whose entries these are is signed in; asked only when there is a doubt. */
    async isThem() {
      if (this.cookie !== cookie()) this.isSure = false;
      if (this.isSure) return true;
      try {
        const answer = await fetch(this.sessionUrl, { headers: { Accept: "application/json" }, cache: "no-store" });
        if (!answer.ok) throw new Error(`status ${answer.status}`);
        const { user } = await answer.json();
        if (user !== this.user) {
          this.unsure(user ? "other-user" : "signed-out");
          return false;
        }
      } catch {
        this.again("waiting");
        return false;
      }
      this.isSure = true;
      this.cookie = cookie();
      return true;
    }
    unsure(kind) {
      this.isSure = false;
      this.again(kind, "", SESSION_MS);
      return null;
    }
    again(kind, text = "", ms = RETRY_MS[Math.min(this.tries, RETRY_MS.length - 1)]) {
      this.tries += 1;
      this.say(kind, text);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.soon(), ms * (0.8 + 0.4 * Math.random()));
    }
  }

  // crypto.randomUUID needs HTTPS or this machine.
  const uuid = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  };
  window.benchwright.Outbox = Outbox;
  window.benchwright.uuid = uuid;
})();

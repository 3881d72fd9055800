// SPDX-License-Identifier: MIT
// Opens a page in headless Chromium without a network and does what stdin asks, for tests and pictures.
//
// usage: node browse.mjs < REQUEST.json > ANSWER.json
//
//     {"page": "/tmp/report.html", "dark": false, "width": 1100, "actions": [
//       {"do": "click", "selector": "..."},                      also "hover", "press" (with "key")
//       {"do": "choose", "selector": "...", "value": "..."},     of a select
//       {"do": "wait", "selector": "..."},                        until there is such an element
//       {"do": "fill", "selector": "...", "value": "..."},
//       {"do": "tables"},                                         opens all tables and answers them
//       {"do": "offers", "label": "SVG"},                         answers {file: text} of each such button
//       {"do": "download", "selector": "..."},                    the same of one button, as a real download
//       {"do": "text", "selector": "..."},                       also "count", and "content", the text of SVG too
//       {"do": "picture", "selector": "...", "file": "a.png"},   the whole page without a selector
//       {"do": "pdf", "file": "a.pdf"}]}
//
// The answer has `answers` (one an action, null where it has none), `times` of the actions, `ready_ms`,
// `cpu_ms` (host time of the page's process until then, which depends less on what else runs), `measures` (ms of each section), `console` (messages and
// errors), `requests` (all but the page itself) and `title`.
import { chromium } from "playwright-core";
import { pathToFileURL } from "node:url";
import { readFileSync, readdirSync } from "node:fs";

/// Milliseconds of the host's processors that the pages' processes below a process have taken.
function cpuOfPages(root) {
  const processes = new Map();
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      processes.set(Number(pid), { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]), command: readFileSync(`/proc/${pid}/cmdline`, "latin1") });
    } catch {
      // it has ended meanwhile
    }
  }
  const isBelow = (pid) => pid === root || (processes.has(pid) && isBelow(processes.get(pid).parent));
  let ticks = 0;
  for (const [pid, { ticks: own, command }] of processes) {
    if (command.includes("--type=renderer") && isBelow(pid)) {
      ticks += own;
    }
  }
  return 10 * ticks;
}

const asked = JSON.parse(readFileSync(0, "utf8"));
const browser = await chromium.launch({
  executablePath: process.env["TESSERA_CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
const context = await browser.newContext({
  offline: true,
  acceptDownloads: true,
  colorScheme: asked.dark ? "dark" : "light",
  viewport: { width: asked.width ?? 1100, height: 800 },
});
const page = await context.newPage();
const messages = [];
const requests = [];
const address = pathToFileURL(asked.page).href;
page.on("console", (message) => messages.push(`${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => messages.push(`error: ${error}`));
page.on("dialog", (dialog) => {
  messages.push(`dialog: ${dialog.message()}`);
  void dialog.dismiss();
});
page.on("request", (request) => {
  // a download is an object of the page itself
  if (request.url() !== address && !request.url().startsWith("blob:")) {
    requests.push(request.url().slice(0, 200));
  }
});

const deeds = {
  click: (action) => page.locator(action.selector).first().click(),
  hover: (action) => page.locator(action.selector).first().hover(action.position ? { position: action.position } : {}),
  press: (action) => page.locator(action.selector).first().press(action.key),
  choose: (action) => page.locator(action.selector).first().selectOption(action.value),
  wait: (action) => page.locator(action.selector).first().waitFor({ state: "attached" }),
  fill: async (action) => {
    await page.locator(action.selector).first().fill(action.value);
    await page.locator(action.selector).first().blur();
  },
  count: (action) => page.locator(action.selector).count(),
  text: (action) => page.locator(action.selector).allInnerTexts(),
  content: (action) => page.locator(action.selector).allTextContents(),
  tables: () => page.evaluate(async () => {
    document.querySelectorAll("details.behind").forEach((details) => (details.open = true));
    await new Promise((done) => setTimeout(done, 50));
    return Object.fromEntries([...document.querySelectorAll("[data-table]")].map((table) => [table.dataset.table, {
      head: [...table.querySelectorAll("thead th")].map((head) => head.innerText),
      rows: [...table.querySelectorAll("tbody tr")].map((row) => [...row.children].map((cell) =>
        cell.dataset.value === undefined ? cell.innerText.trim() : Number(cell.dataset.value))),
    }]));
  }),
  // what all buttons of a name offer, without the time that a download of each would take
  offers: (action) => page.evaluate(async (label) => {
    const { createObjectURL } = URL;
    const { click } = HTMLAnchorElement.prototype;
    const offered = [];
    let blob = null;
    URL.createObjectURL = (made) => createObjectURL.call(URL, (blob = made));
    HTMLAnchorElement.prototype.click = function () {
      offered.push([this.download, blob]);
    };
    [...document.querySelectorAll("button")].filter((button) => button.textContent === label).forEach((button) => button.click());
    URL.createObjectURL = createObjectURL;
    HTMLAnchorElement.prototype.click = click;
    return Object.fromEntries(await Promise.all(offered.map(async ([name, made]) => [name, await made.text()])));
  }, action.label),
  download: async (action) => {
    const [offered] = await Promise.all([page.waitForEvent("download"), page.locator(action.selector).first().evaluate((button) => button.click())]);
    return [offered.suggestedFilename(), readFileSync(await offered.path(), "utf8")];
  },
  picture: async (action) => {
    if (action.selector) {
      await page.locator(action.selector).first().screenshot({ path: action.file });
    } else {
      await page.screenshot({ path: action.file, fullPage: true });
    }
  },
  pdf: (action) => page.pdf({ path: action.file }),
};

let failed = null;
const answers = [];
const times = [];
let readyMs = null;
let cpuMs = null;
let measures = null;
try {
  await page.goto(address);
  await page.waitForFunction(() => document.documentElement.dataset.ready || document.documentElement.dataset.failed, null, { timeout: asked.timeout_ms ?? 60000 });
  measures = await page.evaluate(() => Object.fromEntries(performance.getEntriesByType("measure").map((one) => [one.name, Math.round(one.duration)])));
  cpuMs = cpuOfPages(process.pid);
  readyMs = Number(await page.evaluate(() => document.documentElement.dataset.ready ?? -1));
  for (const action of asked.actions ?? []) {
    const begin = performance.now();
    answers.push((await deeds[action.do](action)) ?? null);
    times.push(Math.round(performance.now() - begin));
  }
} catch (error) {
  failed = String(error);
}
const title = await page.title();
await browser.close();
process.stdout.write(JSON.stringify({ answers, times, ready_ms: readyMs, cpu_ms: cpuMs, measures, console: messages, requests, title, failed }));

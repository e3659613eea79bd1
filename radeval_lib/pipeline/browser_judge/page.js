/* The form of the judge, and its answer. Texts are inserted as text nodes only, and none is sent anywhere. */
(() => {
  "use strict";
  const here = document.currentScript.src;
  const box = document.getElementById("judge");
  const [form, folder, answer] = ["form", ".judge-folder", "section"].map((selector) => box.querySelector(selector));
  if (window.location.protocol === "file:") {
    folder.hidden = false;
    return;
  }
  form.hidden = false;
  const [example, reference, candidate, status] = ["example", "reference", "candidate", "status"].map(
    (name) => document.getElementById(`judge-${name}`),
  );
  const fields = { reference, candidate };
  const { longest, megabytes, ...needs } = box.dataset;
  const patience = { load: 600_000, judge: 30_000 }; // in milliseconds; a slow connection needs minutes

  const put = (name, className, ...parts) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    element.append(...parts);
    return element;
  };
  const hidden = (text) => put("span", "judge-hidden", text);
  const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const percent = (share) => `${Math.floor(100 * share)} %`; // rounded down, so that 100 % means all of it

  /* The worker and the promise that it is ready; null before the first use and after a failure. */
  let thread = null;
  let lastNumber = 0;

  function start() {
    const address = new URL("worker.js", here);
    for (const name of ["archive", "integrity", "runtime", "entry"]) address.searchParams.set(name, needs[name]);
    const worker = new Worker(address, { type: "module" });
    const ready = new Promise((resolve, reject) => {
      worker.addEventListener("message", ({ data }) => {
        if (data.ready) resolve();
        else if (!data.number) reject(new Error(data.failed));
      });
      worker.addEventListener("error", (event) => reject(new Error(event.message || "its script did not load")));
    });
    return { worker, ready };
  }

  function within(milliseconds, promise, what) {
    let clock;
    const late = new Promise((_, reject) => {
      clock = setTimeout(() => reject(new Error(`${what} took more than ${milliseconds / 1000} s`)), milliseconds);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(clock));
  }

  async function judge(texts, say) {
    if (!thread) {
      say(`Loading Python and the judge (${megabytes} MB, once) …`);
      thread = start();
    }
    const { worker, ready } = thread;
    try {
      await within(patience.load, ready, "loading");
      say("Judging …");
      const number = ++lastNumber;
      const answered = new Promise((resolve, reject) => {
        worker.addEventListener("message", function take({ data }) {
          if (data.number !== number) return;
          worker.removeEventListener("message", take);
          if (data.failed) reject(new Error(data.failed));
          else resolve(data.answer);
        });
      });
      worker.postMessage({ number, ...texts });
      return await within(patience.judge, answered, "judging");
    } catch (error) {
      worker.terminate();
      if (thread && thread.worker === worker) thread = null;
      throw error;
    }
  }

  const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  function inWords({ errors }) {
    if (!errors.length) return "No error found.";
    const significant = errors.filter((error) => error.significant).length;
    return `${plural(errors.length, "error")} found, ${significant} significant.`;
  }

  function errorList(found) {
    const list = put("ol", "judge-errors");
    found.errors.forEach((error) => {
      const kind = error.significant ? "significant" : "insignificant";
      list.append(put(
        "li", kind, put("strong", "", sentence(error.says)), ` (${error.category}, ${kind}, weight ${Number(error.weight.toPrecision(3))}) `,
        put("span", "muted", `${sentence(error.rule)}.`),
      ));
    });
    return list;
  }

  function markedText(segments) {
    const text = put("p", "judge-text");
    text.dir = "auto";
    segments.forEach(([part, kinds, numbers]) => {
      text.append(kinds ? put("mark", kinds, part) : put("span", "", part));
      if (numbers.length) text.append(put("sup", "", hidden("error "), numbers.join(", ")));
    });
    return text;
  }

  function unreadList(side) {
    const list = put("ul", "judge-unread");
    side.unread.forEach((statement) => list.append(put("li", "", "Not read: ", put("q", "", statement))));
    side.in_part.forEach(({ statement, words }) => {
      const item = put("li", "", "Read in part: ", put("q", "", statement), ", without ");
      words.forEach(([word, kind], place) => {
        item.append(place ? ", " : "", put("q", "", word), kind === "word" ? "" : ` (${kind})`);
      });
      list.append(item);
    });
    side.remarks.forEach((remark) => list.append(put("li", "", remark)));
    return list;
  }

  function show(found) {
    const { green_rules: green, green_rules_errors: weighted } = found.scores;
    const parts = [
      put("h2", "", "What the judge finds"),
      put("p", "", `${inWords(found)} GREEN by rules ${green.toFixed(3)} (1 is best); weighted errors ${weighted.toFixed(3)} (0 is best).`),
    ];
    if (found.errors.length) parts.push(errorList(found));
    if (found.matched.length) parts.push(put("p", "", `Both reports say: ${found.matched.join("; ")}.`));
    if (found.cautions.length) {
      const cautions = found.cautions.map((caution) => put("li", "", `${sentence(caution)}.`));
      parts.push(put("div", "verdict-box inconclusive", put("strong", "", "Caution"), put("ul", "", ...cautions)));
    }
    const texts = put("div", "judge-texts");
    Object.entries(found.sides).forEach(([name, side]) => {
      const share = side.share === null ? "nothing that the judge could read" : `${percent(side.share)} of what the report says was read`;
      const title = put("h3", "", sentence(name));
      texts.append(put("div", "", title, markedText(side.segments), put("p", "muted", `Coverage: ${share}.`), unreadList(side)));
    });
    parts.push(texts, put(
      "p", "muted judge-legend", put("mark", "significant", "significant error"), " ",
      put("mark", "insignificant", "insignificant error"), " ", put("mark", "unread", "not read"),
    ));
    answer.replaceChildren(...parts);
    answer.hidden = false;
  }

  example.addEventListener("change", () => {
    const chosen = example.selectedOptions[0].dataset;
    Object.entries(fields).forEach(([name, field]) => { field.value = chosen[name] || ""; });
  });
  Object.values(fields).forEach((field) => field.addEventListener("input", () => { example.selectedIndex = 0; }));

  let asked = 0; // if the button is pressed several times, only the last request is answered
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const mine = ++asked;
    const say = (text) => { if (mine === asked) status.textContent = text; };
    answer.hidden = true;
    const texts = { reference: reference.value, candidate: candidate.value };
    const long = Object.entries(texts).find(([, text]) => text.length > Number(longest));
    if (long) {
      say(`The ${long[0]} has ${long[1].length} characters; the page judges at most ${longest}.`);
      return;
    }
    try {
      const found = await judge(texts, say);
      if (mine !== asked) return;
      show(found);
      say(inWords(found));
    } catch (error) {
      say(`The judge failed: ${error.message}`);
    }
  });
})();

/* What the pages do beyond being read. Each works from a folder, without a network, and the pages do without. */
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("scripted");

  /* One switch for all of a page's code. */
  function codeSwitch() {
    const folds = [...document.querySelectorAll("div.cell details.above-input")];
    const title = document.querySelector("article h1");
    folds.forEach((fold) => fold.querySelector("summary").setAttribute("aria-label", "Code of this cell"));
    if (!folds.length || !title) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "code-switch d-print-none";
    const show = (on) => {
      root.classList.toggle("code-shown", on);
      folds.forEach((fold) => { fold.open = on; });
      button.setAttribute("aria-pressed", String(on));
      button.textContent = on ? "Hide the code" : "Show the code";
    };
    button.addEventListener("click", () => show(!root.classList.contains("code-shown")));
    show(false);
    title.after(button);
  }

  /* Wide tables take the margin; on a phone, tables of sentences, and small ones that do not fit, become cards. */
  function fitTables() {
    const margin = document.querySelector(".bd-sidebar-secondary");
    const article = document.querySelector(".bd-article");
    if (margin && article) {
      const free = margin.getBoundingClientRect().right - article.getBoundingClientRect().right - 8;
      root.style.setProperty("--ra-margin", `${Math.max(0, free)}px`);
    }
    const inMargin = new Set();
    const watch = new IntersectionObserver((entries) => {
      entries.forEach((e) => (e.isIntersecting ? inMargin.add(e.target) : inMargin.delete(e.target)));
      root.classList.toggle("table-in-margin", inMargin.size > 0);
    });
    const phone = matchMedia("(max-width: 600px)").matches;
    const mostInCards = 200; // numbers, beyond which cards would be longer than anyone scrolls
    const columnNames = (table) => { // what the heads of each column say, from top to bottom, as HTML
      const names = [];
      table.querySelectorAll("thead tr").forEach((row) => {
        let column = 0;
        [...row.children].forEach((head) => {
          const said = head.querySelector("sub") ? head.innerHTML : head.textContent;
          for (const end = column + head.colSpan; column < end; column += 1) (names[column] ||= []).push(said.trim());
        });
      });
      return names.map((said) => { // "value" tells nothing below another head, or beside a name alone
        const heads = said.filter(Boolean);
        return heads.filter((one) => one !== "value" || (heads.length === 1 && names.length > 2)).join(", ");
      });
    };
    const asCards = (table, ofNumbers = false) => {
      if (table.matches(".cards") || !table.tHead) return;
      const names = columnNames(table);
      const groups = names.map((name) => (name.includes(", ") ? name.split(", ")[0] : ""));
      table.classList.add("cards");
      table.classList.toggle("of-numbers", ofNumbers);
      const heads = Math.max(...[...table.querySelectorAll("tbody tr")].map((row) => row.querySelectorAll("th").length));
      const firsts = [...table.querySelectorAll("tbody tr")].map((row) => row.cells[0]?.textContent);
      const distinct = firsts.length > 1 && new Set(firsts).size === firsts.length;
      const spans = []; // of each column the cell that goes on in later rows, and in how many
      table.querySelectorAll("tbody tr").forEach((row) => {
        const cells = [...row.children];
        // A card is headed by its first cell where that alone says in words what it is about, and no two say the same.
        const headed = heads < 2 && distinct && /\p{L}{2}/u.test(cells[0]?.textContent || "");
        for (let column = 0; cells.length || spans[column]?.rows; ) {
          if (spans[column]?.rows) { // a card of its own says again what the table says once
            const again = spans[column].cell.cloneNode(true);
            again.removeAttribute("rowspan");
            again.classList.add("said-again");
            row.insertBefore(again, cells[0] || null);
            spans[column].rows -= 1;
            column += again.colSpan;
            continue;
          }
          const cell = cells.shift();
          const group = ofNumbers && groups[column];
          if (group && group !== groups[column - 1] && group === groups[column + 1]) { // as a mean and its deviation
            row.insertBefore(Object.assign(document.createElement("td"), { className: "new-line" }), cell);
          }
          if (names[column] && (column || !headed)) {
            if (names[column].includes("<sub")) { // τ_b: what CSS shows of an attribute is plain text
              cell.prepend(Object.assign(document.createElement("span"), { className: "label", innerHTML: `${names[column]}: ` }));
            } else cell.dataset.label = names[column];
          }
          cell.classList.toggle("empty", !cell.textContent.trim() && !cell.querySelector("img, svg"));
          spans[column] = { cell, rows: cell.rowSpan - 1 };
          column += cell.colSpan;
        }
      });
    };
    document.querySelectorAll(".bd-article table.table:has(thead)").forEach((table) => { // of Markdown
      // Three columns of sentences would have a word or two in a line.
      const sentences = table.rows[0].cells.length > 2 && [...table.querySelectorAll("td")].some((one) => one.textContent.length > 60);
      if (phone && (sentences || table.offsetWidth > table.parentElement.clientWidth + 2)) asCards(table);
    });
    document.querySelectorAll(".radeval-table").forEach((box) => {
      const table = box.querySelector("table");
      const cells = [...table.querySelectorAll("tbody td")];
      const sentences = cells.some((cell) => cell.textContent.trim().length > 40);
      if (sentences && table.querySelectorAll("thead tr").length === 1) asCards(table);
      const around = box.closest(".verdict-box") || box;
      const measure = () => {
        if (!box.classList.contains("wide") && box.clientWidth && box.scrollWidth > box.clientWidth + 2) {
          const needs = box.scrollWidth + around.offsetWidth - box.clientWidth;
          const before = parseFloat(around.style.getPropertyValue("--ra-needs")) || 0;
          around.style.setProperty("--ra-needs", `${Math.max(needs, before)}px`);
          [box, around].forEach((one) => one.classList.add("wide"));
          watch.observe(around);
          if (phone && cells.length <= mostInCards) asCards(table, !sentences); // or its last column is out of sight
        }
      };
      measure();
      box.closest("details")?.addEventListener("toggle", measure);
    });
  }

  /* A table of data, of which what holds all the words typed is shown. */
  function searchTables() {
    document.querySelectorAll(".search-table").forEach((box) => {
      const rows = JSON.parse(box.querySelector("script").textContent);
      const texts = rows.map((cells) => cells.join(" ").replace(/<[^>]*>/g, " ").toLowerCase());
      const heads = [...box.querySelectorAll("th")].map((head) => head.textContent);
      const cell = (content, place) => `<td data-label="${heads[place]}">${content}</td>`;
      const [input, body, status] = ["input", "tbody", "[role=status]"].map((one) => box.querySelector(one));
      const most = 100;
      const show = () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        const found = rows.filter((_, place) => words.every((word) => texts[place].includes(word)));
        body.innerHTML = found.slice(0, most).map((cells) => `<tr>${cells.map(cell).join("")}</tr>`).join("");
        status.textContent = `${found.length} of ${rows.length}${found.length > most ? `, the first ${most} shown` : ""}`;
      };
      input.addEventListener("input", show);
      input.value = new URLSearchParams(window.location.search).get("q") || input.placeholder;
      show();
    });
  }

  /* RaTEScore of two lists of entities, as radeval_lib/metrics/ratescore/scoring.py computes it. */
  function editablePairs() {
    document.querySelectorAll(".ra-pair").forEach((box) => {
      const told = JSON.parse(box.querySelector("script").textContent);
      const status = document.createElement("p");
      status.setAttribute("role", "status");
      const lists = ["reference", "candidate"].map((side) => {
        const list = document.createElement("fieldset");
        list.append(Object.assign(document.createElement("legend"), { textContent: side }));
        const selects = told[side].map(([text, type]) => {
          const select = document.createElement("select");
          told.names.forEach((name, place) => select.add(new Option(name, place, false, told.types[place] === type)));
          select.add(new Option("left out", -1));
          const label = document.createElement("label");
          label.append(`${text} `, select);
          list.append(label);
          return select;
        });
        box.append(list);
        return selects;
      });
      box.append(status);
      const direction = (queries, others, cosine) => {
        let [terms, total] = [0, 0];
        queries.forEach((type, query) => {
          if (type < 0) return;
          let best = -1;
          others.forEach((other, place) => {
            if (other >= 0 && (best < 0 || cosine(query, place) > cosine(query, best))) best = place;
          });
          const weight = told.weights[type][others[best]];
          terms += weight * told.penalties[type][others[best]] * cosine(query, best);
          total += weight;
        });
        return total ? terms / total : 0;
      };
      const tell = () => {
        const [reference, candidate] = lists.map((list) => list.map((select) => Number(select.value)));
        if ([reference, candidate].some((types) => types.every((type) => type < 0))) {
          status.textContent = "Score 0.500: a side has no entity.";
          return;
        }
        const precision = direction(candidate, reference, (query, place) => told.cosines[place][query]);
        const recall = direction(reference, candidate, (query, place) => told.cosines[query][place]);
        const sum = precision + recall;
        const [p, r, score] = [precision, recall, sum ? (2 * precision * recall) / sum : 0].map((x) => x.toFixed(3));
        status.textContent = `Precision ${p}, recall ${r}, score ${score}.`;
      };
      box.addEventListener("change", tell);
      tell();
    });
  }

  /* Search begins with what is called so: exhibits by paper and number, then titles, then headings. */
  function calledSo(list, query) {
    const parts = (text) => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    const idle = new Set(["a", "an", "and", "by", "for", "in", "of", "on", "the", "to"]);
    const words = parts(query).filter((word) => !idle.has(word));
    if (!words.length) return;
    const has = (text) => {
      const known = parts(text);
      return words.every((word) => known.some((one) => (/^\d+$/.test(word) ? one === word : one.startsWith(word))));
    };
    const pages = Object.entries(window.pageHeadings);
    const title = (page) => (window.pageHeadings[page][0] || [page])[0];
    const heading = ([page, all]) => all.slice(1).map(([text, label]) => ({ text, of: title(page), address: `${page}.html${label ? `#${label}` : ""}` }));
    const exhibits = window.exhibits.map((one) => ({ text: `${one.name}: ${one.title}`, of: one.verdict, address: one.address, name: one.name }));
    const found = [
      ...exhibits.filter((one) => has(one.name)),
      ...pages.map(([page]) => ({ text: title(page), of: "", address: `${page}.html` })).filter((one) => has(one.text)),
      ...exhibits.filter((one) => !has(one.name) && has(one.text)),
      ...pages.flatMap(heading).filter((one) => has(one.text)),
    ];
    if (!found.length) return;
    const most = 12;
    const shown = document.createElement("ol");
    found.slice(0, most).forEach((one) => {
      const link = Object.assign(document.createElement("a"), { href: one.address, textContent: one.text });
      const item = document.createElement("li");
      item.append(link);
      if (one.of) item.append(Object.assign(document.createElement("span"), { className: "found-where", textContent: one.of }));
      shown.append(item);
    });
    const box = document.createElement("section");
    box.className = "found-first";
    const count = found.length > most ? `the first ${most} of ${found.length}` : `${found.length}`;
    box.append(Object.assign(document.createElement("h2"), { textContent: `Exhibits, titles and headings (${count})` }), shown);
    list.before(box);
  }

  /* Search says where a word was found: the pages' texts are a script, since a folder's pages cannot fetch. */
  function whereFound() {
    const list = document.getElementById("search-results");
    const query = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase();
    const words = query.split(/\s+/).filter(Boolean);
    if (!list || !words.length) return;
    const script = document.createElement("script");
    script.src = "page_texts.js";
    script.addEventListener("load", () => {
      calledSo(list, query);
      const tell = () => list.querySelectorAll("li > a:not([data-told])").forEach((link) => {
        link.dataset.told = "";
        const page = new URL(link.href).pathname.split("/").slice(-3).join("/").replace(/\.html$/, "");
        const name = Object.keys(window.pageTexts).find((known) => page === known || page.endsWith(`/${known}`));
        const text = window.pageTexts[name] || "";
        const word = [words.join(" "), ...words].find((one) => text.toLowerCase().includes(one));
        if (!word) return;
        const at = text.toLowerCase().indexOf(word);
        const begin = text.lastIndexOf(" ", Math.max(0, at - 90)) + 1;
        const end = text.indexOf(" ", at + word.length + 90);
        const found = document.createElement("mark");
        found.textContent = text.slice(at, at + word.length);
        const told = document.createElement("span");
        told.className = "found-where";
        told.append(`… ${text.slice(begin, at)}`, found, `${text.slice(at + word.length, end < 0 ? undefined : end)} …`);
        link.after(told);
      });
      new MutationObserver(tell).observe(list, { childList: true, subtree: true });
      tell();
    });
    document.head.append(script);
  }

  /* Long code in a sentence breaks after a sign rather than anywhere. */
  function breakCode() {
    document.querySelectorAll("main code .pre, dl.exhibit-record dd > code").forEach((word) => {
      if (word.querySelector("wbr") || word.textContent.length <= 28) return;
      const texts = [...word.childNodes].map((one) => one.firstChild || one); // words that are whole break if they are long
      texts.filter((one) => one.nodeType === Node.TEXT_NODE && one.data.length > 28).forEach((one) => {
        const parts = one.data.split(/(?<=[/:(,])(?=\w)|(?<=\.)(?=\w{6})|(?<=\w{24}_)(?=\w)/);
        one.replaceWith(...parts.flatMap((part, place) => (place ? [document.createElement("wbr"), part] : [part])));
      });
    });
  }

  /* Titles in lists of pages break no short name such as F1-RadGraph, nor "(2 points)". */
  function holdNames() {
    document.querySelectorAll(".bd-sidebar-primary a, .prev-next-title, .bd-toc-item a").forEach((title) => {
      if (title.children.length) return;
      title.innerHTML = title.innerHTML.replace(/\S{1,8}-\S{1,10}|\(\d+ points?\)/g, '<span class="whole">$&</span>');
    });
  }

  /* A link to what stands in a fold opens it. */
  function openTarget() {
    const target = window.location.hash && document.getElementById(decodeURIComponent(window.location.hash.slice(1)));
    if (!target) return;
    target.querySelectorAll("details.cells").forEach((fold) => { fold.open = true; });
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  document.addEventListener("DOMContentLoaded", () => { codeSwitch(); breakCode(); holdNames(); searchTables(); editablePairs(); fitTables(); whereFound(); openTarget(); });
  window.addEventListener("hashchange", openTarget);
})();

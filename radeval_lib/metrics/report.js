// Sorts and filters the pairs. It reads numbers alone, from attributes; without it the page shows the same pairs.
"use strict";
(() => {
  const find = id => document.getElementById(id);
  const list = find("list"), by = find("by"), first = find("first"), errors = find("errors"), count = find("count");
  const pairs = [...list.children].map(pair => ({
    pair, scores: pair.dataset.scores.split(" ").map(Number), significant: Number(pair.dataset.significant),
  }));
  const show = () => {
    const chosen = by.selectedOptions[0], place = Number(chosen.value);
    const up = (chosen.dataset.worst === "low") === (first.value === "worst") ? 1 : -1;
    let shown = 0;
    pairs.sort((one, other) => up * (one.scores[place] - other.scores[place]));
    for (const {pair, significant} of pairs) {
      pair.hidden = errors.checked && !significant;
      shown += !pair.hidden;
      list.append(pair);
    }
    count.textContent = `${shown} of ${pairs.length} pairs`;
  };
  for (const control of [by, first, errors]) control.addEventListener("change", show);
  document.querySelector(".controls").hidden = false;
})();

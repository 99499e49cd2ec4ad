(() => {
  const parts = [...document.querySelectorAll("article, .mark")];
  const texts = parts.map((part) => part.textContent.toLowerCase());
  const folds = [...document.querySelectorAll("details")];
  const find = document.getElementById("find");
  const count = document.getElementById("count");
  const fold = document.getElementById("fold");
  const most = 5000;
  const marks = window.Highlight && CSS.highlights ? { found: new Highlight(), here: new Highlight() } : null;
  if (marks) Object.entries(marks).forEach(([name, mark]) => CSS.highlights.set(name, mark));
  let ranges = [], place = -1, before = null, open = false;

  const mark = (words) => {
    ranges = [];
    place = -1;
    for (const part of words.length ? parts : []) {
      if (part.classList.contains("gone")) continue;
      const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && ranges.length < most) {
        const node = walker.currentNode, text = node.data.toLowerCase();
        if (text.length !== node.length) continue;
        for (const word of words) {
          for (let at = text.indexOf(word); at >= 0 && ranges.length < most; at = text.indexOf(word, at + word.length)) {
            const range = new Range();
            range.setStart(node, at);
            range.setEnd(node, at + word.length);
            ranges.push(range);
          }
        }
      }
    }
    if (!marks) return;
    marks.here.clear();
    marks.found.clear();
    ranges.sort((a, b) => a.compareBoundaryPoints(Range.START_TO_START, b));
    ranges.forEach((range) => marks.found.add(range));
  };
  const step = (by) => {
    if (!ranges.length) return;
    place = (place + by + ranges.length) % ranges.length;
    const fold = ranges[place].startContainer.parentElement.closest("details");
    if (fold) fold.open = true;
    const box = ranges[place].getBoundingClientRect();
    window.scrollBy(0, box.top - window.innerHeight / 2);
    if (!marks) return;
    marks.here.clear();
    marks.here.add(ranges[place]);
  };
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    before ??= new Set(folds.filter((each) => each.open));
    let shown = 0;
    parts.forEach((part, i) => {
      const fits = words.every((word) => texts[i].includes(word));
      part.classList.toggle("gone", !fits);
      if (fits) shown += 1;
    });
    folds.forEach((each) => {
      const text = words.length ? each.textContent.toLowerCase() : "";
      each.open = words.length ? words.some((word) => text.includes(word)) : before.has(each);
    });
    if (!words.length) before = null;
    count.textContent = words.length ? `${shown} of ${parts.length}` : "";
    mark(words);
  });
  find.addEventListener("keydown", (event) => {
    if (event.key === "Enter") step(event.shiftKey ? -1 : 1);
  });
  fold.addEventListener("click", () => {
    open = !open;
    folds.forEach((each) => { each.open = open; });
    before = before && new Set(open ? folds : []);
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
})();

(() => {
  const parts = [...document.querySelectorAll("article, .mark")];
  const texts = parts.map((part) => part.textContent.toLowerCase());
  const find = document.getElementById("find");
  const count = document.getElementById("count");
  const fold = document.getElementById("fold");
  const all = (open) => document.querySelectorAll("details").forEach((each) => { each.open = open; });
  find.addEventListener("input", () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    parts.forEach((part, i) => {
      const fits = words.every((word) => texts[i].includes(word));
      part.classList.toggle("gone", !fits);
      if (fits) {
        shown += 1;
        part.querySelectorAll("details").forEach((each) => {
          each.open = words.length > 0 && words.some((word) => each.textContent.toLowerCase().includes(word));
        });
      }
    });
    count.textContent = words.length ? `${shown} of ${parts.length}` : "";
  });
  let open = false;
  fold.addEventListener("click", () => {
    open = !open;
    all(open);
    fold.textContent = open ? "Fold all" : "Unfold all";
  });
})();

// Load the page again when its server has a newer one. The selection is in the address, so it stays.

let version = null;

async function look() {
  const show = (name, on) => document.body.classList.toggle(name, on);
  try {
    const state = await (await fetch("version")).text();
    const found = parseInt(state);
    if (version !== null && found !== version) location.reload();
    version = found;
    show("stale", state.endsWith("…"));
    show("ended", false);
  } catch {
    show("ended", true); // the page stays
  }
  setTimeout(look, 700);
}

look();

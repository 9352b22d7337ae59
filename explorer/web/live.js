// Load the page again when its server has a newer one. The selection is in the address, so it stays.

let version = null;

async function look() {
  try {
    const found = await (await fetch("/version")).text();
    if (version !== null && found !== version) location.reload();
    version = found;
  } catch {
    // The server has ended; the page stays.
  }
}

look();
setInterval(look, 700);

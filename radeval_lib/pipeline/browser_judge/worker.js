/* The worker of the judge: it loads Python and the judge's modules, and answers each pair that the page sends. */
const asked = new URL(self.location.href).searchParams;
const here = new URL("./", self.location.href);

async function load() {
  const runtime = new URL(`${asked.get("runtime")}/`, here).href;
  const [{ loadPyodide }, archive] = await Promise.all([
    import(`${runtime}pyodide.mjs`),
    // The browser refuses an archive whose checksum differs from the one in the page.
    fetch(new URL(asked.get("archive"), here), { integrity: asked.get("integrity") }),
  ]);
  if (!archive.ok) throw new Error(`${asked.get("archive")}: status ${archive.status}`);
  const python = await loadPyodide({ indexURL: runtime });
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: "/judge" });
  python.runPython("import sys; sys.path.insert(0, '/judge')");
  const judge = python.pyimport(asked.get("entry"));
  judge.dump_page_data("Normal.", "Normal."); // loads the lexicon
  // All is loaded. Before the first text of a reader arrives, remove every function that can reach other machines.
  for (const name of ["fetch", "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "Worker"]) {
    Object.defineProperty(self, name, { value: undefined });
  }
  return judge;
}

const judge = load();
judge.then(() => postMessage({ ready: true }), (error) => postMessage({ failed: String(error.message || error) }));

addEventListener("message", async ({ data: { number, reference, candidate } }) => {
  try {
    postMessage({ number, answer: JSON.parse((await judge).dump_page_data(reference, candidate)) });
  } catch (error) {
    postMessage({ number, failed: String(error.message || error) });
  }
});

// Draws the charts of a report from what stands in it; `draw`, above, draws heatmaps.

const unpacked = async (element) => {
  const bytes = Uint8Array.from(atob(element.textContent), (sign) => sign.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
};
const text = async (element) => new TextDecoder().decode(await unpacked(element));
const dark = matchMedia("(prefers-color-scheme: dark)");

// The colours of the reader's theme, where a figure has none of its own.
function template() {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const [color, line] = [value("text-color"), value("border-color")];
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, tickcolor: line };
  const clear = "rgba(0,0,0,0)";
  return {
    layout: {
      paper_bgcolor: clear,
      plot_bgcolor: clear,
      font: { color, family: value("font"), size: 12 },
      hoverlabel: { bgcolor: value("background-color"), font: { color } },
      xaxis: axis,
      yaxis: axis,
    },
  };
}

async function figures() {
  const library = document.querySelector("#plotly");
  if (!library) return;
  const script = document.createElement("script");
  script.textContent = await text(library);
  document.head.append(script);
  for (const place of document.querySelectorAll(".chart")) {
    const { data, layout, frames } = JSON.parse(await text(place.firstElementChild));
    place.replaceChildren();
    await Plotly.newPlot(place, {
      data,
      frames,
      layout: { ...layout, template: template(), autosize: true },
      config: { displaylogo: false, responsive: true, toImageButtonOptions: { format: "svg" } },
    });
  }
  dark.addEventListener("change", () => {
    for (const place of document.querySelectorAll(".chart")) Plotly.relayout(place, { template: template() });
  });
}

async function heatmaps() {
  for (const place of document.querySelectorAll(".map")) {
    const data = await unpacked(place.firstElementChild);
    place.replaceChildren(document.querySelector("#heatmap").content.cloneNode(true));
    // Nobody answers here: a view is drawn from the cells that are in the file.
    draw({ data, parentElement: place, setTriggerValue: () => {} });
  }
}

await Promise.all([figures(), heatmaps()]);
document.documentElement.dataset.drawn = "yes";

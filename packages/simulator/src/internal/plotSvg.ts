import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"

/** A plot as SVG text, drawn without a browser: the same bytes each time. Write ids and classes by options, not by chance. */
export const plotSvg = (options: Plot.PlotOptions): string => {
  const { document } = parseHTML("<!doctype html><html><body></body></html>")
  return Plot.plot({ ...options, document }).outerHTML
}

import * as Plot from "@observablehq/plot"
import { expect, it } from "vitest"
import { plotSvg } from "../src/internal/plotSvg.js"

it("draws a plot without a browser, the same bytes each time", () => {
  const draw = () => plotSvg({ marks: [Plot.rectY([1, 3, 2], { x1: (_, i) => i, x2: (_, i) => i + 1, y: (y) => y })] })
  expect(draw()).toMatch(/^<svg.*<rect .*<\/svg>$/s)
  expect(draw()).toBe(draw())
})

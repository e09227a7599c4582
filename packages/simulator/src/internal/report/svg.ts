import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"

/** What is needed of the element that Plot draws; the types of the DOM are not in scope here. */
interface Drawn {
  readonly outerHTML: string
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  prepend(...nodes: ReadonlyArray<unknown>): void
  querySelectorAll(selector: string): Iterable<{ remove(): void }>
}

interface Page {
  createElementNS(
    namespace: string,
    name: string
  ): { textContent: string; setAttribute(name: string, value: string): void }
}

export interface Drawing {
  /** Unique in the page. */
  readonly id: string
  readonly width: number
  readonly height: number
  readonly left: number
  readonly right: number
  readonly durationMs: number
  readonly title: string
  readonly description: string
  /** `x` is in ms since the run began, `y` in pixels from the top. */
  readonly marks: Plot.Markish[]
}

/** An SVG element as text: the same marks, the same bytes. */
export const draw = ({ description, durationMs, height, id, left, marks, right, title, width }: Drawing): string => {
  const { document }: { readonly document: Page } = parseHTML("<!doctype html><html><body></body></html>")
  const svg: Drawn = Plot.plot({
    document,
    width,
    height,
    className: "plot",
    marginTop: 0,
    marginRight: right,
    marginBottom: 0,
    marginLeft: left,
    x: { type: "linear", domain: [0, durationMs], axis: null },
    y: { type: "identity", axis: null },
    marks
  })
  for (const style of svg.querySelectorAll("style")) style.remove()
  const name = (element: string, suffix: string, text: string) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", element)
    node.setAttribute("id", `${id}-${suffix}`)
    node.textContent = text
    return node
  }
  svg.prepend(name("title", "title", title), name("desc", "desc", description))
  svg.setAttribute("role", "img")
  svg.setAttribute("aria-labelledby", `${id}-title`)
  svg.setAttribute("aria-describedby", `${id}-desc`)
  for (const attribute of ["width", "height"]) svg.removeAttribute(attribute)
  return svg.outerHTML
}

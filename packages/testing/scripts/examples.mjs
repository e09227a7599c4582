// Writes every example of the public docs (the `@example` blocks of packages/*/src/*.ts, the `ts` blocks of README.md and
// docs/*.md) as a file of its own, so that the compiler checks it and the tests run it.
//
// In Markdown, `<!-- before … -->` above a block and `<!-- after … -->` below it hold what a reader need not see.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const out = `${root}packages/testing/.examples/`

const read = (path) => readFileSync(`${root}${path}`, "utf8")
const list = (path) => {
  try {
    return readdirSync(`${root}${path}`, { withFileTypes: true })
  } catch {
    return []
  }
}
const slug = (text) => text.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "")

const fromSource = (path) => {
  const examples = []
  for (const [comment] of read(path).matchAll(/\/\*\*[\s\S]*?\*\//g)) {
    for (const [, block] of comment.matchAll(/```ts\n([\s\S]*?)\n\s*\*?\s*```/g)) {
      examples.push(block.replace(/^\s*\* ?/gm, ""))
    }
  }
  return examples
}

const fromMarkdown = (path) =>
  [
    ...read(path).matchAll(/(?:<!-- before\n([\s\S]*?)-->\n+)?```ts\n([\s\S]*?)```(?:\n+<!-- after\n([\s\S]*?)-->)?/g)
  ].map(([, before = "", block, after = ""]) => `${before}${block}${after}`)

/** All examples, by the file they are written to and the place they come from. */
export const extract = () => {
  const found = []
  const take = (path, examples) => {
    examples.forEach((code, index) => {
      found.push({
        name: `${path} #${index + 1}`,
        file: `${out}${slug(path.replace(/^packages\//, ""))}-${index + 1}.ts`,
        code
      })
    })
  }
  for (const entry of list("packages")) {
    for (const file of list(`packages/${entry.name}/src`)) {
      const path = `packages/${entry.name}/src/${file.name}`
      if (file.isFile() && file.name.endsWith(".ts") && file.name !== "index.ts") take(path, fromSource(path))
    }
  }
  for (const path of ["README.md", ...list("docs").map((file) => `docs/${file.name}`)]) {
    if (path.endsWith(".md")) take(path, fromMarkdown(path))
  }
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  for (const { code, file } of found) writeFileSync(file, `${code.trimEnd()}\nexport {}\n`)
  return found.map(({ file, name }) => ({ file, name }))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${extract().length} examples\n`)

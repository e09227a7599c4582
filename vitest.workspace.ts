import { readdirSync } from "node:fs"

/** Every package with tests of its own is one project. */
export default readdirSync(new URL("./packages/", import.meta.url)).map((name) => `packages/${name}`)

import { existsSync } from "node:fs"
import { mergeConfig } from "vitest/config"
import { project } from "../../vitest.shared.js"

/**
 * What needs a browser is not collected where there is none, so that nothing is reported as skipped. With
 * SWITCHGEAR_REQUIRE_SERVERS=1 it is, and fails.
 */
const found = existsSync("/usr/bin/chromium") || process.env["SWITCHGEAR_REQUIRE_SERVERS"] === "1"

export default mergeConfig(project("simulator"), { test: { exclude: found ? [] : ["test/browser/**"] } })

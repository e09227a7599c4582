import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mergeConfig } from "vitest/config"
import { projectWithServers } from "../../vitest.shared.js"

const mounts = (): boolean => {
  const folder = mkdtempSync(join(tmpdir(), "switchgear-mount-"))
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" })
    execFileSync("umount", [folder])
    return true
  } catch {
    return false
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What needs a disk of its own is treated as what needs a server. */
const disks = process.env["SWITCHGEAR_REQUIRE_SERVERS"] === "1" || mounts() ? [] : ["test/disk.test.ts"]

export default mergeConfig(await projectWithServers("store"), { test: { exclude: disks } })

import { createHash } from "node:crypto"

/** In hexadecimal digits. Synchronous: the Web's own digest is a task of its own, which costs more than the hash. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** A word short enough to be one of a language is no secret worth a search: local servers take `none` or `ollama`. */
const shortest = 8
/** In a good answer only what nobody would write by chance is masked. */
const shortestInOutput = 20

/**
 * Takes the provider's own key and address out of what its upstream says (DESIGN 9). Unlike a search for key-like strings
 * it knows what it looks for.
 */
export class Mask {
  /** What must not show in words. */
  readonly needles: ReadonlyArray<string>
  private readonly key: Buffer | undefined

  constructor(key: string | undefined, authority: string) {
    this.needles = (key !== undefined && key.length >= shortest ? [key, authority] : [authority]).filter(
      (needle) => needle.length > 0
    )
    this.key = key !== undefined && key.length >= shortestInOutput ? Buffer.from(key) : undefined
  }

  readonly text = (text: string): string => {
    let masked = text
    for (const needle of this.needles) {
      if (masked.includes(needle)) masked = masked.replaceAll(needle, "***")
    }
    return masked
  }

  /** An error's body: key and address. */
  error(body: Buffer): Buffer {
    return this.needles.some((needle) => body.includes(needle)) ? Buffer.from(this.text(body.toString())) : body
  }

  /** Output: the key only, byte for byte, so that nothing else changes. */
  output(bytes: Buffer): Buffer {
    if (this.key === undefined || bytes.indexOf(this.key) < 0) return bytes
    const masked = Buffer.from(bytes)
    for (let at = masked.indexOf(this.key); at >= 0; at = masked.indexOf(this.key, at + this.key.length)) {
      masked.fill("*", at, at + this.key.length)
    }
    return masked
  }
}

import type { Image } from "./model.js"

/** What Messages takes as bytes. */
export const mediaTypes = ["image/jpeg", "image/png", "image/gif", "image/webp"]

/** `undefined` for what is neither a web address nor base64 data of an image both know. */
export const imageOf = (url: string): Image | undefined => {
  if (/^https?:\/\//i.test(url)) return { _tag: "Image", source: { _tag: "Url", url } }
  const comma = url.indexOf(",")
  const head = /^data:([\w/+.-]+);base64$/i.exec(comma < 0 ? "" : url.slice(0, comma))
  const given = head?.[1]?.toLowerCase()
  const mediaType = given === "image/jpg" ? "image/jpeg" : given
  if (mediaType === undefined || !mediaTypes.includes(mediaType)) return undefined
  return { _tag: "Image", source: { _tag: "Base64", mediaType, data: url.slice(comma + 1) } }
}

export const urlOf = ({ source }: Image): string =>
  source._tag === "Url" ? source.url : `data:${source.mediaType};base64,${source.data}`

import { isIP, type LookupFunction } from "node:net"

/** A lookup that knows one name and the addresses that were checked for it: nothing is resolved a second time (ROUTING W7). */
export const pinned =
  (name: string, addresses: ReadonlyArray<string>): LookupFunction =>
  (hostname, options, callback) => {
    const all = hostname === name ? addresses.map((address) => ({ address, family: isIP(address) })) : []
    const wanted = options.family === "IPv4" ? 4 : options.family === "IPv6" ? 6 : options.family
    const fit = wanted === 4 || wanted === 6 ? all.filter(({ family }) => family === wanted) : all
    const [first] = fit
    if (first === undefined) {
      callback(Object.assign(new Error("no address was checked for this name"), { code: "ENOTFOUND" }), "")
    } else if (options.all === true) callback(null, [...fit])
    else callback(null, first.address, first.family)
  }

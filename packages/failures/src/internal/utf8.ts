/** Every runtime has it; the compiler's ES library does not say so, and this package asks for no other. */
declare const TextDecoder: new (label?: string) => { readonly decode: (bytes: Uint8Array) => string }

/** Text of bytes; what is not UTF-8 becomes replacement characters. */
export const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const SUFFIX_LENGTH = 6

/** As a client sends it; the server keeps keys without the prefix. */
export const fullKey = (key: string): string => (key.startsWith('sk-') ? key : `sk-${key}`)

/** Enough to tell keys apart, not enough to use one. */
export function maskedKey(key: string): string {
  const full = fullKey(key)
  return full.length < 12 ? 'sk-…' : `${full.slice(0, 6)}…${full.slice(-4)}`
}

/** Names of a batch: the first as typed, each further one with six random characters. */
export function batchNames(
  name: string,
  count: number,
  randomBytes: (length: number) => Uint8Array = cryptoBytes,
): string[] {
  const extra = Array.from({ length: count - 1 }, () => `${name}-${suffix(randomBytes)}`)
  return [name, ...extra]
}

function suffix(randomBytes: (length: number) => Uint8Array): string {
  // Bytes beyond the last whole multiple of the alphabet would favour its first letters.
  const limit = 256 - (256 % ALPHABET.length)
  let text = ''
  while (text.length < SUFFIX_LENGTH) {
    for (const byte of randomBytes(16)) {
      if (byte < limit && text.length < SUFFIX_LENGTH) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return text
}

const cryptoBytes = (length: number): Uint8Array => crypto.getRandomValues(new Uint8Array(length))

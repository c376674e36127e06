/**
 * A key is `sk-`, followed by 42 random characters and a checksum of 6 characters. These 48
 * characters are from `KEY_ALPHABET`. The checksum lets a scanner for leaked secrets recognize a
 * key without a lookup.
 */
export const KEY_RANDOM_CHARACTERS = 42
const CHECK_CHARACTERS = 6

export const KEY_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/**
 * Appends the checksum to the random characters of a key. `random` has 42 characters from
 * `KEY_ALPHABET`.
 */
export const completeKey = (random: string): string => random + checksumOf(random)

/**
 * Returns the checksum of a key: CRC-32 (IEEE 802.3, reflected, polynomial 0xEDB88320) in base 62,
 * most significant digit first.
 */
function checksumOf(text: string): string {
  let crc = 0xffffffff
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index) & 0xff
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let digits = ''
  for (let place = 0; place < CHECK_CHARACTERS; place += 1) {
    digits = (KEY_ALPHABET[rest % 62] ?? '') + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

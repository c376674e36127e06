export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'true' | 'false' | 'null'

/** 0 to 9, as ASCII. */
export const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= 48 && byte <= 57

/** One of `" \ / b f n r t` after a backslash. */
export const isShortEscape = (byte: number | undefined): boolean =>
  byte === 34 ||
  byte === 92 ||
  byte === 47 ||
  byte === 98 ||
  byte === 102 ||
  byte === 110 ||
  byte === 114 ||
  byte === 116

/** The number that four hexadecimal digits from `at` on stand for; -1 when they are none. */
export function hexOf(bytes: Buffer, at: number): number {
  let value = 0
  for (let index = at; index < at + 4; index += 1) {
    const byte = bytes[index]
    if (byte === undefined) return -1
    const digit = isDigit(byte) ? byte - 48 : (byte | 32) - 87
    if (digit < 0 || digit > 15 || (!isDigit(byte) && digit < 10)) return -1
    value = value * 16 + digit
  }
  return value
}

/** What a value is, by its first byte; null when none begins so. */
export function kindOf(byte: number): JsonKind | null {
  if (byte === 34) return 'string'
  if (byte === 123) return 'object'
  if (byte === 91) return 'array'
  if (byte === 116) return 'true'
  if (byte === 102) return 'false'
  if (byte === 110) return 'null'
  return byte === 45 || isDigit(byte) ? 'number' : null
}

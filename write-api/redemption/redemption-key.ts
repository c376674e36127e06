import { randomInt } from 'node:crypto'
import { isName } from '#domain/shared/characters.ts'
import { invalidField } from '#infra/http/faults.ts'
import { faultWords } from '../fault-words.ts'
import { refused } from '../refusals.ts'

/** None that is easily taken for another one: keys are printed, and typed in. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** Fewer are found by trying, within the limits of wrong codes, in days. */
const OWN_KEY_MIN = 4
/** 160 random bits. */
const CHARACTERS = 32

export const newRedemptionKey = (): string =>
  Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** As hard to guess as the first 20 of its 32 bytes are. */
export const redemptionKeyFrom = (bytes: Uint8Array): string =>
  Array.from(bytes.subarray(0, CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

export const redemptionKeyOwner = (redemptionId: number): string => `redemption:${redemptionId}`

/**
 * Throws for one that nobody could type, and for one that a spreadsheet would take for a formula:
 * a list of keys is a file, too. Spaces around it don't count.
 */
export function ownKeyOf(given: string): string {
  const key = given.trim()
  if (!isName(key) || /\s|^[=+\-@]/.test(key)) {
    throw invalidField('key', faultWords({ fault: 'bad-character' }))
  }
  if (key !== '' && [...key].length < OWN_KEY_MIN) {
    throw refused('RedemptionKeyTooShort', { least: OWN_KEY_MIN })
  }
  return key
}

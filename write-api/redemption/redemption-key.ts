import { randomInt } from 'node:crypto'
import { isName } from '#domain/shared/characters.ts'
import { invalidField } from '#infra/http/faults.ts'
import { faultWords } from '../fault-words.ts'

/** None that is easily taken for another one: keys are printed, and typed in. */
const ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789'
/** 160 random bits. */
const CHARACTERS = 32

export const newRedemptionKey = (): string =>
  Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

export const redemptionKeyOwner = (redemptionId: number): string => `redemption:${redemptionId}`

/** Throws for one that nobody could type. Spaces around it don't count. */
export function ownKeyOf(given: string): string {
  const key = given.trim()
  if (!isName(key) || /\s/.test(key)) {
    throw invalidField('key', faultWords({ fault: 'bad-character' }))
  }
  return key
}

import { randomInt } from 'node:crypto'
import { completeKey, KEY_ALPHABET, KEY_RANDOM_CHARACTERS } from '#domain/token/key-format.ts'

/** A new key, without `sk-`: 250 random bits and a checksum. */
export function newTokenKey(): string {
  const characters = Array.from(
    { length: KEY_RANDOM_CHARACTERS },
    () => KEY_ALPHABET[randomInt(KEY_ALPHABET.length)],
  )
  return completeKey(characters.join(''))
}

export const tokenKeyOwner = (tokenId: number): string => `token:${tokenId}`

import { randomInt } from 'node:crypto'
import type { CredentialsEvent } from '#domain/credentials/events.ts'
import type { Vault } from '#infra/vault/port.ts'

const CODE_COUNT = 10
const CHARACTERS = 12
/**
 * The characters of recovery codes. Characters that look alike, such as `0` and `o`, are left out.
 */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

export type NewRecoveryCodes = {
  /** Codes such as `k3f8-9zq2-mm7x`, which are shown once. Only their hashes are stored. */
  readonly codes: readonly string[]
  readonly codeHashes: readonly string[]
}

/** Generates ten recovery codes with 59 random bits each. */
export function newRecoveryCodes(vault: Vault, userId: number): NewRecoveryCodes {
  const plainCodes = Array.from({ length: CODE_COUNT }, () =>
    Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  )
  return {
    codes: plainCodes.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    codeHashes: plainCodes.map((code) => recoveryCodeHash(vault, userId, code)),
  }
}

/** Returns the keyed hash of a recovery code. Case, spaces and hyphens are ignored. */
export const recoveryCodeHash = (vault: Vault, userId: number, code: string): string =>
  vault.keyedHash('recovery-code', `${userId}:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)

/**
 * Returns the new recovery codes if one of the events has stored their hashes. Otherwise, returns
 * an empty list.
 */
export const issuedCodes = (
  events: readonly CredentialsEvent[],
  { codes }: NewRecoveryCodes,
): string[] => (events.some(({ type }) => type === 'RecoveryCodesReplaced') ? [...codes] : [])

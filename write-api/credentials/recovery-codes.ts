import { randomInt } from 'node:crypto'
import type { CredentialsEvent } from '#domain/credentials/events.ts'
import type { Vault } from '#infra/vault/port.ts'

const CODES = 10
const CHARACTERS = 12
/** No character that could be read as another one. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

export type NewRecoveryCodes = {
  /** `k3f8-9zq2-mm7x`: told once, kept nowhere. */
  readonly codes: readonly string[]
  readonly codeHashes: readonly string[]
}

/** 59 bits each. */
export function newRecoveryCodes(vault: Vault, userId: number): NewRecoveryCodes {
  const plain = Array.from({ length: CODES }, () =>
    Array.from({ length: CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join(''),
  )
  return {
    codes: plain.map((code) => code.replace(/(.{4})(?=.)/g, '$1-')),
    codeHashes: plain.map((code) => recoveryCodeHash(vault, userId, code)),
  }
}

/** However it was typed. */
export const recoveryCodeHash = (vault: Vault, userId: number, code: string): string =>
  vault.keyedHash('recovery-code', `${userId}:${code.toLowerCase().replace(/[^a-z0-9]/g, '')}`)

/** The codes, where the facts made them the user's. */
export const codesMadeBy = (
  events: readonly CredentialsEvent[],
  { codes }: NewRecoveryCodes,
): string[] => (events.some(({ type }) => type === 'RecoveryCodesReplaced') ? [...codes] : [])

import { randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { CredentialsEvent } from '#domain/credentials/events.ts'
import type { Sealed } from '#domain/shared/event.ts'
import type { Vault } from '#infra/vault/port.ts'
import type { Deps } from '../action.ts'

const STEP_MS = 30_000
/**
 * The maximum difference between the clocks of the authenticator app and the server, in time steps
 * of 30 s.
 */
const WINDOW = 1

/**
 * Creates a TOTP (RFC 6238) with the settings that all authenticator apps support: SHA-1, six
 * digits, 30 seconds.
 */
const totpOf = (secret: string, issuer = '', label = ''): TOTP =>
  new TOTP({
    issuer,
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: STEP_MS / 1_000,
    secret: Secret.fromBase32(secret),
  })

/** Returns a new secret for an authenticator app: 160 random bits in base 32. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32

export const totpUri = (secret: string, issuer: string, label: string): string =>
  totpOf(secret, issuer, label).toString()

/**
 * Returns the time step for which the code is valid, or null if the code is not valid at `now`
 * (Unix milliseconds). Time steps of 30 s are counted from 1970.
 */
export function totpStep(secret: string, code: string, now: number): number | null {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW })
  return delta === null ? null : Math.floor(now / STEP_MS) + delta
}

export const isTotpCode = (code: string): boolean => /^\d{6}$/.test(code)

export const totpOwner = (userId: number): string => `user:${userId}`

const KIND = 'totp-offer'
const OFFER_MS = 10 * 60_000

/**
 * Stores a secret that the user has not confirmed yet, in place of any earlier unconfirmed secret.
 * The secret is encrypted, because short-lived values may be stored on another server.
 */
export async function storeNewTotpSecret({ core }: Deps, userId: number, secret: string) {
  const sealed = await core.vault.seal(userId, secret)
  await core.shortLived.put(KIND, String(userId), sealed, OFFER_MS)
}

/**
 * Reads the user's unconfirmed secret. Returns null if there is none or if it is older than ten
 * minutes.
 */
export async function readNewTotpSecret({ core }: Deps, userId: number): Promise<string | null> {
  const sealed = await core.shortLived.peek(KIND, String(userId))
  return sealed === null ? null : core.vault.open(userId, sealed as Sealed)
}

export async function deleteNewTotpSecret({ core }: Deps, userId: number): Promise<void> {
  await core.shortLived.take(KIND, String(userId))
}

const CODE_COUNT = 10
const CHARACTERS = 12
/**
 * The characters of recovery codes. Characters that look alike, such as `0` and `o`, are left out.
 */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'

type NewRecoveryCodes = {
  /**
   * The codes, such as `k3f8-9zq2-mm7x`. The codes are shown once, and only their hashes are
   * stored.
   */
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
 * Returns the new recovery codes if one of the events stores the hashes of these codes. Otherwise,
 * returns an empty list.
 */
export const issuedCodes = (
  events: readonly CredentialsEvent[],
  { codes }: NewRecoveryCodes,
): string[] => (events.some(({ type }) => type === 'RecoveryCodesReplaced') ? [...codes] : [])

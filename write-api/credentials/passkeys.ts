import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { CredentialsState, Passkey } from '#domain/credentials/state.ts'
import { optionValue } from '#domain/options/option-registry.ts'
import { isName } from '#domain/shared/check-characters.ts'
import { principalOf } from '#infra/http/access-checks.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { httpError, invalidField } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull } from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './read-and-change-credentials.ts'

/**
 * Returns the user handle of WebAuthn. The handle identifies a user who enters no username.
 * Authenticators store the handle with a passkey and return it at a login.
 */
export const userHandleOf = (userId: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`user:${userId}`))

/** Returns the user id in a user handle, or null if this site did not issue the handle. */
export function userIdOfHandle(handle: string): number | null {
  const [, id] = /^user:([1-9]\d{0,14})$/.exec(Buffer.from(handle, 'base64url').toString()) ?? []
  return id === undefined ? null : Number(id)
}

/**
 * The data with which the signatures of a passkey are verified. The event that added the passkey
 * contains this data in encrypted form.
 */
export type PasskeyRecord = {
  /** The authenticator's credential id in base64url. */
  readonly id: string
  /** The public key of the passkey: a COSE key in base64url. */
  readonly publicKey: string
  readonly transports: readonly string[]
  /** The domain name of the site (in WebAuthn, the relying party) to which the passkey is bound. */
  readonly site: string
  /**
   * True if the authenticator verified the user when the passkey was created. Such a passkey can be
   * the only factor of a login.
   */
  readonly isUnlockable: boolean
}

export async function openPasskey(
  vault: Vault,
  userId: number,
  passkey: Passkey,
): Promise<PasskeyRecord | null> {
  const text = await vault.open(userId, passkey.credential)
  return text === null ? null : (JSON.parse(text) as PasskeyRecord)
}

export async function passkeysOfSite(
  vault: Vault,
  userId: number,
  { passkeys }: CredentialsState,
  site: string,
): Promise<{ id: string; transports: string[] }[]> {
  const records = await recordsOfSite(vault, userId, passkeys, site)
  return [...records.values()].map(({ id, transports }) => ({ id, transports: [...transports] }))
}

/**
 * Returns the decrypted records of the passkeys that are bound to the domain `site`, by passkey id.
 */
async function recordsOfSite(
  vault: Vault,
  userId: number,
  passkeys: CredentialsState['passkeys'],
  site: string,
): Promise<ReadonlyMap<number, PasskeyRecord>> {
  const records = new Map<number, PasskeyRecord>()
  for (const [id, passkey] of passkeys) {
    const record = await openPasskey(vault, userId, passkey)
    if (record?.site === site) records.set(id, record)
  }
  return records
}

/**
 * This site as the relying party of WebAuthn. `id` is the domain to which the site's passkeys are
 * bound.
 */
export type PasskeySite = { readonly origin: string; readonly id: string; readonly name: string }

/**
 * Returns the relying party (this site) for a request. The origin comes from the `Origin` header,
 * or from the configured address if the header is missing, or from the `Host` header if no address
 * is configured. Throws if the host is an IP address, because browsers do not support passkeys for
 * IP addresses. Throws if the address is invalid.
 */
export async function passkeySite(deps: Deps, request: FastifyRequest): Promise<PasskeySite> {
  const site = await findPasskeySite(deps, request)
  if (site === null) throw credentialsError('PasskeyNeedsDomain')
  return site
}

/** Returns the relying party like `passkeySite`, but null instead of an error. */
async function findPasskeySite(
  { core }: Deps,
  request: FastifyRequest,
): Promise<PasskeySite | null> {
  const { values } = await allOptions(core.db)
  const configured = optionValue(values, 'ServerAddress')
  const named = request.headers.origin ?? configured
  const address = named || `${request.protocol}://${request.host}`
  if (!URL.canParse(address)) return null
  const { origin, hostname } = new URL(address)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return null
  return { origin, id: hostname, name: optionValue(values, 'SystemName') }
}

/**
 * Reports whether the user has a passkey for this site that is sufficient for a login. The passkey
 * with the id `without` does not count.
 */
export async function canLogInWithPasskey(
  deps: Deps,
  request: FastifyRequest,
  without?: number,
): Promise<boolean> {
  const site = await findPasskeySite(deps, request)
  if (site === null) return false
  const { userId } = principalOf(request)
  const { passkeys } = await credentialsOf(deps, userId)
  const records = await recordsOfSite(deps.core.vault, userId, passkeys, site.id)
  return [...records].some(([id, { isUnlockable }]) => id !== without && isUnlockable)
}

/**
 * Loads the WebAuthn library when it is first needed, because loading it takes as long as loading
 * the rest of the management API.
 */
export const webauthn = () => import('@simplewebauthn/server')

/**
 * The COSE numbers of the accepted signature algorithms: EdDSA, ES256 and RS256. Every
 * authenticator supports at least one of them.
 */
export const ALGORITHMS = [-8, -7, -257]

const KIND = 'passkey-challenge'
const CHALLENGE_MS = 5 * 60_000
const CHALLENGES_PER_MINUTE_MAX = 30

/**
 * Issues a challenge that can be used once and for one purpose, such as `login` or `add:7`. An IP
 * address can request at most 30 challenges per minute.
 */
export async function issueChallenge(
  { core }: Deps,
  request: FastifyRequest,
  purpose: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = `challenge:${addressKey(core.vault, request.ip)}`
  const rate = { max: CHALLENGES_PER_MINUTE_MAX, periodMs: 60_000, isRefundable: false }
  const outcome = await core.limits.enter('login', [{ kind: 'rate', key, ...rate }])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  const challenge = new Uint8Array(randomBytes(32))
  const name = Buffer.from(challenge).toString('base64url')
  await core.shortLived.put(KIND, name, purpose, CHALLENGE_MS)
  return challenge
}

/**
 * Returns a function that consumes a challenge. The function resolves to true if the challenge was
 * issued for this purpose.
 */
export const consumeChallenge =
  ({ core }: Deps, purpose: string) =>
  async (challenge: string): Promise<boolean> =>
    /^[\w-]{43}$/.test(challenge) && (await core.shortLived.take(KIND, challenge)) === purpose

/**
 * Returns `text` without surrounding spaces, as the name of a passkey. Throws if the name is empty
 * or contains forbidden characters.
 */
export function passkeyName(text: string): string {
  const name = text.trim()
  if (name === '') throw credentialsError('PasskeyNameRequired')
  if (!isName(name)) {
    throw invalidField('name', {
      zh: '包含不允许的字符',
      en: 'contains characters that are not allowed',
    })
  }
  return name
}

type AssertionRequest = {
  readonly userId: number
  readonly purpose: string
  readonly userVerification: 'required' | 'preferred'
}

/**
 * Returns the WebAuthn options for a signature with one of the user's passkeys. Throws if the user
 * has no passkey for this site.
 */
export async function passkeyAssertionOptions(
  deps: Deps,
  request: FastifyRequest,
  { userId, purpose, userVerification }: AssertionRequest,
) {
  const site = await passkeySite(deps, request)
  const credentials = await credentialsOf(deps, userId)
  const allowCredentials = await passkeysOfSite(deps.core.vault, userId, credentials, site.id)
  if (allowCredentials.length === 0) throw credentialsError('PasskeyFailed')
  const { generateAuthenticationOptions } = await webauthn()
  const challenge = await issueChallenge(deps, request, purpose)
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge,
    allowCredentials,
    userVerification,
  })
}

import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { CredentialsState, Passkey } from '#domain/credentials/state.ts'
import { optionValue } from '#domain/options/registry.ts'
import { isName } from '#domain/shared/characters.ts'
import { principalOf } from '#infra/http/access.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { httpError, invalidField } from '#infra/http/http-errors.ts'
import { isFull } from '#infra/limits/port.ts'
import type { Vault } from '#infra/vault/port.ts'
import { allOptions } from '#projections/options/query.ts'
import type { Deps } from '../action.ts'
import { credentialsError } from './credentials-errors.ts'
import { credentialsOf } from './credentials-of.ts'

/** What an authenticator keeps with a passkey, and shows where nobody was named before. */
export const userHandleOf = (userId: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`user:${userId}`))

/** null for what we never gave out. */
export function userOfHandle(handle: string): number | null {
  const [, id] = /^user:([1-9]\d{0,14})$/.exec(Buffer.from(handle, 'base64url').toString()) ?? []
  return id === undefined ? null : Number(id)
}

/** What a passkey's signatures are checked by; sealed in the event that added it. */
export type PasskeyRecord = {
  /** The authenticator's own id for it, base64url, as the public key (COSE). */
  readonly id: string
  readonly publicKey: string
  readonly transports: readonly string[]
  /** The name of the site that it is bound to. */
  readonly site: string
  /** Whether it was unlocked as it was made: then it is a way in by itself. */
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

/** Those of the user that are good at this site. */
export async function passkeysAt(
  vault: Vault,
  userId: number,
  { passkeys }: CredentialsState,
  site: string,
): Promise<{ id: string; transports: string[] }[]> {
  const records = await recordsAt(vault, userId, passkeys, site)
  return [...records.values()].map(({ id, transports }) => ({ id, transports: [...transports] }))
}

/** By the passkeys' ids. */
async function recordsAt(
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

/** Where passkeys are good: an origin, and the name that they are bound to. */
export type PasskeySite = { readonly origin: string; readonly id: string; readonly name: string }

/**
 * The site as the request's browser names it (its host was checked against ours), else the
 * configured address. Throws where a browser makes no passkeys: at a bare IP address, or none.
 */
export async function passkeySite(deps: Deps, request: FastifyRequest): Promise<PasskeySite> {
  const site = await siteOrNone(deps, request)
  if (site === null) throw credentialsError('PasskeyNeedsDomain')
  return site
}

/** null where a browser makes none. */
async function siteOrNone({ core }: Deps, request: FastifyRequest): Promise<PasskeySite | null> {
  const { values } = await allOptions(core.db)
  const configured = optionValue(values, 'ServerAddress')
  const given = request.headers.origin ?? configured
  const address = given || `${request.protocol}://${request.host}`
  if (!URL.canParse(address)) return null
  const { origin, hostname } = new URL(address)
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return null
  return { origin, id: hostname, name: optionValue(values, 'SystemName') }
}

/** Whether the request's user could come in here by a passkey alone, leaving out one of them. */
export async function hasPasskeyAlone(
  deps: Deps,
  request: FastifyRequest,
  without?: number,
): Promise<boolean> {
  const site = await siteOrNone(deps, request)
  if (site === null) return false
  const { userId } = principalOf(request)
  const { passkeys } = await credentialsOf(deps, userId)
  const here = await recordsAt(deps.core.vault, userId, passkeys, site.id)
  return [...here].some(([id, { isUnlockable }]) => id !== without && isUnlockable)
}

/** Loaded at its first use: it takes as long as the rest of the management API. */
export const webauthn = () => import('@simplewebauthn/server')

/** EdDSA, ES256, RS256: between them, every authenticator (COSE's numbers). */
export const ALGORITHMS = [-8, -7, -257]

const KIND = 'passkey-challenge'
const CHALLENGE_MS = 5 * 60_000
const PER_MINUTE = 30

/** A challenge for one purpose (`login`, `add:7`), good once; at most 30 a minute per address. */
export async function newChallenge(
  { core }: Deps,
  request: FastifyRequest,
  purpose: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const key = `challenge:${addressKey(core.vault, request.ip)}`
  const rate = { max: PER_MINUTE, periodMs: 60_000, isRefundable: false }
  const outcome = await core.limits.enter('login', [{ kind: 'rate', key, ...rate }])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  const challenge = new Uint8Array(randomBytes(32))
  const name = Buffer.from(challenge).toString('base64url')
  await core.shortLived.put(KIND, name, purpose, CHALLENGE_MS)
  return challenge
}

/** Whether it was given for this purpose: true once. */
export const takeChallenge =
  ({ core }: Deps, purpose: string) =>
  async (challenge: string): Promise<boolean> =>
    /^[\w-]{43}$/.test(challenge) && (await core.shortLived.take(KIND, challenge)) === purpose

/** As its owner will tell it from others; throws when it can't be one. */
export function passkeyName(text: string): string {
  const name = text.trim()
  if (name === '') throw credentialsError('PasskeyNameRequired')
  if (!isName(name)) {
    throw invalidField('name', {
      zh: '包含不允许的字符',
      en: 'has characters that are not allowed',
    })
  }
  return name
}

type Asked = {
  readonly userId: number
  /** What the challenge is good for. */
  readonly purpose: string
  readonly userVerification: 'required' | 'preferred'
}

/** What a browser asks for one of the user’s passkeys by; throws where this site has none. */
export async function passkeyAssertionOptions(
  deps: Deps,
  request: FastifyRequest,
  { userId, purpose, userVerification }: Asked,
) {
  const site = await passkeySite(deps, request)
  const known = await credentialsOf(deps, userId)
  const allowCredentials = await passkeysAt(deps.core.vault, userId, known, site.id)
  if (allowCredentials.length === 0) throw credentialsError('PasskeyFailed')
  const { generateAuthenticationOptions } = await webauthn()
  const challenge = await newChallenge(deps, request, purpose)
  return generateAuthenticationOptions({
    rpID: site.id,
    challenge,
    allowCredentials,
    userVerification,
  })
}

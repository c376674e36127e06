import { randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { addressKey } from '#infra/http/address-key.ts'
import { fault } from '#infra/http/faults.ts'
import { isFull } from '#infra/limits/port.ts'
import type { Deps } from '../act.ts'

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
  if (isFull(outcome)) throw fault('TooManyRequests', Math.ceil(outcome.waitMs / 1_000))
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

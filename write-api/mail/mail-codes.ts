import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core.ts'
import { addressKey } from '#infra/http/address-key.ts'
import { httpError } from '#infra/http/http-errors.ts'
import { isFull, type PermitEnd, type RateClaim } from '#infra/limits/port.ts'
import { isBrowser, markBrowser } from '../session/browser-secret.ts'

/**
 * What a code is good for: a new account, or, of the account of this id, an address to come in by
 * or to be told things at.
 */
export type CodePurpose = 'register' | `bind:${number}` | `notify:${number}`

export const CODE_MINUTES = 3
const TRIES_MAX = 5
const KIND = 'mail-code'
const COOKIE = { name: 'mail_browser', path: '/api', seconds: CODE_MINUTES * 60 }

type Codes = Pick<Core, 'shortLived'>

const keyOf = (purpose: CodePurpose, address: string): string => `${purpose}\n${address}`

/**
 * What of a browser's request its code is bound to; null for a script, whose code is good wherever
 * it is shown.
 */
export function askingBrowser(request: FastifyRequest, reply: FastifyReply): string | null {
  const { 'sec-fetch-site': site, origin } = request.headers
  return site === undefined && origin === undefined ? null : markBrowser(request, reply, COOKIE)
}

/** A new code for the address, in place of one from before. */
export async function makeMailCode(
  { shortLived }: Codes,
  purpose: CodePurpose,
  address: string,
  browser: string | null,
): Promise<string> {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const kept = browser === null ? code : `${code}.${browser}`
  await shortLived.put(KIND, keyOf(purpose, address), kept, CODE_MINUTES * 60_000)
  return code
}

/**
 * Whether it is the code, and shown by the browser that asked for it: used up if so; after five
 * wrong ones there is none any more. Another browser can not guess, and so has no try to use up.
 */
export async function takeMailCode(
  { shortLived }: Codes,
  request: FastifyRequest,
  purpose: CodePurpose,
  { address, code }: { readonly address: string; readonly code: string },
): Promise<boolean> {
  const key = keyOf(purpose, address)
  const asked = await shortLived.peek(KIND, key)
  if (asked === null || !isHere(asked, request)) return false
  if ((await shortLived.countTry(KIND, key, TRIES_MAX)) === null) return false
  const kept = await shortLived.peek(KIND, key)
  if (kept === null || !isHere(kept, request) || !isCode(kept, code.trim())) return false
  // NOTE: fifty right ones at once pass until here; one of them takes it.
  const taken = await shortLived.take(KIND, key)
  return taken !== null && isSame(taken, kept)
}

function isHere(kept: string, request: FastifyRequest): boolean {
  const [, browser] = kept.split('.')
  return browser === undefined || isBrowser(browser, request, COOKIE)
}

const isCode = (kept: string, given: string): boolean => isSame(kept.split('.')[0] ?? '', given)

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const RESEND_MS = 30_000
const HOUR_MS = 3_600_000
const OF_ADDRESS_MAX = 5
const OF_IP_MAX = 20

/**
 * Room for one more mail that a visitor asks for, or 429 with the wait: one in 30 s and five an
 * hour to an address, of each kind; twenty an hour from one IP. `release` gives it back to the
 * address, never to the IP.
 */
export async function mayMail(
  { limits, vault }: Pick<Core, 'limits' | 'vault'>,
  kind: 'code' | 'reset',
  address: string,
  ip: string,
): Promise<{ readonly release: (end: PermitEnd) => void }> {
  const to = `mail:${kind}:${vault.keyedHash('address', address)}`
  const rate = (key: string, max: number, periodMs: number): RateClaim => ({
    kind: 'rate',
    key,
    max,
    periodMs,
    isRefundable: true,
  })
  const ofIp = rate(`mail:ip:${addressKey(vault, ip)}`, OF_IP_MAX, HOUR_MS)
  const outcome = await limits.enter('mail', [
    rate(`${to}:resend`, 1, RESEND_MS),
    rate(`${to}:hour`, OF_ADDRESS_MAX, HOUR_MS),
    // Of a mail that failed too: a wrong address costs the mail server as much as a right one.
    { ...ofIp, isRefundable: false },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

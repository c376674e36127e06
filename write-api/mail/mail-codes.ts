import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Core } from '#infra/core-dependencies.ts'
import { addressKey } from '#infra/http/client-address-hash.ts'
import { httpError } from '#infra/http/http-error-class-and-catalogue.ts'
import { isFull, type PermitEnd, type RateClaim } from '#infra/limits/port.ts'
import { isSameBrowser, issueBrowserCookie } from '../sessions/browser-binding-cookie.ts'

/**
 * The purpose of a mailed code. `register` creates an account. `bind:7` binds the address to user
 * 7. `notify:7` uses the address for notifications to user 7.
 */
export type CodePurpose = 'register' | `bind:${number}` | `notify:${number}`

export const CODE_MINUTES = 3
const ATTEMPTS_MAX = 5
const KIND = 'mail-code'
const COOKIE = { name: 'mail_browser', path: '/api', seconds: CODE_MINUTES * 60 }

type Codes = Pick<Core, 'shortLived'>

const keyOf = (purpose: CodePurpose, address: string): string => `${purpose}\n${address}`

/**
 * Returns a hash that identifies the browser of the request, so that only this browser can use a
 * code. Returns null if the client is not a browser; a code for such a client can be used by every
 * client.
 */
export function browserBindingOf(request: FastifyRequest, reply: FastifyReply): string | null {
  const { 'sec-fetch-site': site, origin } = request.headers
  return site === undefined && origin === undefined
    ? null
    : issueBrowserCookie(request, reply, COOKIE)
}

/** Issues a code. An earlier code with the same purpose for this address becomes invalid. */
export async function issueMailCode(
  { shortLived }: Codes,
  purpose: CodePurpose,
  address: string,
  browser: string | null,
): Promise<string> {
  const code = String(randomInt(1_000_000)).padStart(6, '0')
  const stored = browser === null ? code : `${code}.${browser}`
  await shortLived.put(KIND, keyOf(purpose, address), stored, CODE_MINUTES * 60_000)
  return code
}

/**
 * Reports whether a mailed code is correct. If the code was requested by a browser, the request
 * must come from the same browser. A correct code is consumed, and five wrong codes invalidate the
 * mailed code. Attempts from other browsers do not count, so that strangers cannot invalidate a
 * code.
 */
export async function verifyMailCode(
  { shortLived }: Codes,
  request: FastifyRequest,
  purpose: CodePurpose,
  { address, code }: { readonly address: string; readonly code: string },
): Promise<boolean> {
  const key = keyOf(purpose, address)
  const pending = await shortLived.peek(KIND, key)
  if (pending === null || !isFromBoundBrowser(pending, request)) return false
  if ((await shortLived.countTry(KIND, key, ATTEMPTS_MAX)) === null) return false
  const stored = await shortLived.peek(KIND, key)
  if (stored === null || !isFromBoundBrowser(stored, request) || !isCode(stored, code.trim()))
    return false
  // NOTE: if several requests with the correct code arrive at once, only one of them succeeds.
  const consumed = await shortLived.take(KIND, key)
  return consumed !== null && isSame(consumed, stored)
}

function isFromBoundBrowser(stored: string, request: FastifyRequest): boolean {
  const [, browser] = stored.split('.')
  return browser === undefined || isSameBrowser(browser, request, COOKIE)
}

const isCode = (stored: string, code: string): boolean => isSame(stored.split('.')[0] ?? '', code)

const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const RESEND_MS = 30_000
const HOUR_MS = 3_600_000
const MAILS_PER_ADDRESS_MAX = 5
const MAILS_PER_IP_MAX = 20

/**
 * Acquires the permit to send one mail. An email address receives at most one mail of each kind in
 * 30 s, and five of each kind in an hour. An IP address can request twenty mails in an hour. Throws
 * 429 if a limit is reached. If the permit is released with a refund, the mail no longer counts for
 * the email address, but still counts for the IP address.
 */
export async function acquireMailPermit(
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
  const ofIp = rate(`mail:ip:${addressKey(vault, ip)}`, MAILS_PER_IP_MAX, HOUR_MS)
  const outcome = await limits.enter('mail', [
    rate(`${to}:resend`, 1, RESEND_MS),
    rate(`${to}:hour`, MAILS_PER_ADDRESS_MAX, HOUR_MS),
    // The limit of the IP address is never refunded, because a failed mail is as much work for the
    // mail server as any other mail.
    { ...ofIp, isRefundable: false },
  ])
  if (isFull(outcome)) throw httpError('TooManyRequests', {}, Math.ceil(outcome.waitMs / 1_000))
  return outcome
}

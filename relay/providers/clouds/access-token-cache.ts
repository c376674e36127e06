import { request } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { readBoundedBody } from '#infra/outbound/read-bounded-body.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { CredentialsError } from '#relay/providers/provider-access-and-decoder-types.ts'

/**
 * A token is replaced this number of milliseconds before it expires. Otherwise, it could expire on
 * its way to the provider.
 */
const RENEW_BEFORE_MS = 5 * 60_000
/**
 * The number of milliseconds for which no token is requested after the token endpoint refused a
 * request (`REFUSED_MS`) or was unreachable (`UNREACHABLE_MS`). During this time, all calls fail
 * with the same error. Without this pause, each call would send a request to the endpoint.
 */
const REFUSED_MS = 10_000
const UNREACHABLE_MS = 1_000
/**
 * The minimum age of a token that is dropped after the provider refused it. Newer tokens are kept,
 * so that refusals can't cause many requests for tokens.
 */
const DROPPED_AFTER_MS = 30_000

export type AccessToken = { readonly token: string; readonly lifetimeMs: number }

type Entry = {
  readonly token: Promise<string>
  readonly requestedAt: number
  /**
   * The time in milliseconds until which the entry is used. Infinite while the request is in
   * flight.
   */
  usableUntil: number
}

/**
 * Caches the access token of one account. A token is replaced before it expires. At most one
 * request for a token is in flight. The promise of `request` rejects with a `CredentialsError` if
 * the token endpoint provides no token.
 */
export class AccessTokenCache {
  private readonly request: (connections: Connections) => Promise<AccessToken>
  private readonly now: () => number
  private entry: Entry | null = null
  /** The last token, which messages to callers must not contain. */
  private latest = ''

  constructor(
    request: (connections: Connections) => Promise<AccessToken>,
    now: () => number = Date.now,
  ) {
    this.request = request
    this.now = now
  }

  /**
   * Returns a token. The promise rejects with a `CredentialsError` if no token could be obtained.
   */
  token(connections: Connections): Promise<string> {
    const existing = this.entry
    if (existing !== null && this.now() < existing.usableUntil) return existing.token
    const entry: Entry = {
      token: this.request(connections).then(
        ({ token, lifetimeMs }) => {
          entry.usableUntil = this.now() + usableMs(lifetimeMs)
          this.latest = token
          return token
        },
        (error: unknown) => {
          const isRefused = error instanceof CredentialsError && error.status !== null
          entry.usableUntil = this.now() + (isRefused ? REFUSED_MS : UNREACHABLE_MS)
          throw error
        },
      ),
      requestedAt: this.now(),
      usableUntil: Number.POSITIVE_INFINITY,
    }
    this.entry = entry
    return entry.token
  }

  /**
   * Drops the current token after the provider refused it, unless the token was requested less than
   * `DROPPED_AFTER_MS` ago.
   */
  drop(): void {
    if (this.entry === null || this.now() - this.entry.requestedAt < DROPPED_AFTER_MS) return
    this.entry = null
  }

  /** The last token, or an empty string if there was none. */
  get current(): string {
    return this.latest
  }
}

const usableMs = (lifetimeMs: number): number =>
  lifetimeMs > 2 * RENEW_BEFORE_MS ? lifetimeMs - RENEW_BEFORE_MS : lifetimeMs / 2

const REQUEST_MS = 15_000
const ANSWER_BYTES_MAX = 64 * 1024
const LIFETIME_MS_MAX = 60 * 60_000

/**
 * Sends a form to a token endpoint. The promise rejects with a `CredentialsError` if the endpoint
 * can't be reached or its response can't be read.
 */
export async function postTokenRequest(
  { dispatcher }: Connections,
  url: string,
  form: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  try {
    const { statusCode, body } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'accept-encoding': 'identity',
        'user-agent': 'tallygate',
      },
      body: new URLSearchParams(form).toString(),
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    return { status: statusCode, body: await readBoundedBody(body, ANSWER_BYTES_MAX) }
  } catch {
    throw new CredentialsError(null, Buffer.alloc(0))
  }
}

/**
 * Reads a token and its lifetime from a response. Returns null if the response contains no token,
 * or a token that can't be sent in a header.
 */
export function readAccessToken(body: Buffer): AccessToken | null {
  try {
    const answer = JSON.parse(body.toString('utf8')) as JsonObject
    const { access_token: token, expires_in: seconds } = answer
    if (typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null
    const lifetimeMs = typeof seconds === 'number' ? seconds * 1_000 : 0
    // If the lifetime is missing or too short, it is set to two minutes. The token is then used for
    // one minute.
    return { token, lifetimeMs: Math.min(Math.max(lifetimeMs, 120_000), LIFETIME_MS_MAX) }
  } catch {
    return null
  }
}

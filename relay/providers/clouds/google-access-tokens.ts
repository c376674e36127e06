import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { request } from 'undici'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import { CredentialsError } from './cloud-access.ts'

/** The parts of a service account's key file that are used. */
export type ServiceAccount = {
  readonly clientEmail: string
  readonly privateKey: KeyObject
  readonly privateKeyText: string
  readonly privateKeyId: string
  readonly projectId: string
  /** The address of the token endpoint; an empty text selects Google's. */
  readonly tokenUri: string
}

/** Reads a service account's key file. Returns null if a part is missing or malformed. */
export function readServiceAccount(text: string): ServiceAccount | null {
  try {
    const file = JSON.parse(text) as Readonly<Record<string, unknown>>
    const textOf = (name: string): string => {
      const value = file[name]
      return typeof value === 'string' ? value : ''
    }
    const [clientEmail, projectId] = [textOf('client_email'), textOf('project_id')]
    // A project's id can have a domain as its prefix (`example.com:project`).
    if (!/^\S+@\S+$/.test(clientEmail) || !/^[\w.:-]+$/.test(projectId)) return null
    const privateKeyText = textOf('private_key')
    const privateKey = createPrivateKey(privateKeyText)
    if (privateKey.asymmetricKeyType !== 'rsa') return null
    return {
      clientEmail,
      privateKey,
      privateKeyText,
      privateKeyId: textOf('private_key_id'),
      projectId,
      tokenUri: textOf('token_uri'),
    }
  } catch {
    return null
  }
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform'
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** The lifetime of a signed assertion in seconds, which is the longest that Google accepts. */
const ASSERTION_S = 3_600
const signAsync = promisify(sign)

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

/**
 * Returns the signed assertion (a JWT, RFC 7523) with which a service account requests a token from
 * `audience`.
 */
export async function signedAssertion(
  { clientEmail, privateKey, privateKeyId }: ServiceAccount,
  audience: string,
  now: number,
): Promise<string> {
  const issuedAt = Math.floor(now / 1_000)
  const header = {
    alg: 'RS256',
    typ: 'JWT',
    ...(privateKeyId === '' ? {} : { kid: privateKeyId }),
  }
  const claims = {
    iss: clientEmail,
    scope: SCOPE,
    aud: audience,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_S,
  }
  const content = `${encoded(header)}.${encoded(claims)}`
  const signature = await signAsync('RSA-SHA256', Buffer.from(content), privateKey)
  return `${content}.${signature.toString('base64url')}`
}

const REQUEST_MS = 15_000
const ANSWER_BYTES_MAX = 64 * 1024
/** A token is replaced this long before it expires, so that it doesn't expire on its way. */
const RENEW_BEFORE_MS = 5 * 60_000
const LIFETIME_MS_MAX = 60 * 60_000
/**
 * The time for which a failure is returned without another request. Otherwise, each call would send
 * a request to the token endpoint.
 */
const REFUSED_MS = 10_000
const UNREACHABLE_MS = 1_000
/** A refused token is dropped only if it is older, so that refusals can't cause many requests. */
const DROPPED_AFTER_MS = 30_000

type Entry = {
  readonly token: Promise<string>
  readonly requestedAt: number
  /** Until when the entry is used; infinite while the request is in flight. */
  usableUntil: number
}

/**
 * The access tokens of one service account. A token is used until shortly before it expires. At
 * most one request is in flight.
 */
export class GoogleAccessTokens {
  private readonly account: ServiceAccount
  private readonly tokenUrl: string
  private readonly now: () => number
  private entry: Entry | null = null
  /** The last token, for `confidential`. */
  private latest = ''

  constructor(account: ServiceAccount, tokenUrl: string, now: () => number = Date.now) {
    this.account = account
    this.tokenUrl = tokenUrl
    this.now = now
  }

  /** Returns a token. Rejects with a `CredentialsError`. */
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

  /** Drops the current token, because the provider refused it. */
  drop(): void {
    if (this.entry === null || this.now() - this.entry.requestedAt < DROPPED_AFTER_MS) return
    this.entry = null
  }

  /** The current token, or an empty text. */
  get current(): string {
    return this.latest
  }

  private async request(
    connections: Connections,
  ): Promise<{ readonly token: string; readonly lifetimeMs: number }> {
    const assertion = await signedAssertion(this.account, this.tokenUrl, this.now())
    const { status, body } = await post(connections, this.tokenUrl, assertion)
    // A refused assertion is the key's fault, whatever its status. Other errors are Google's.
    if (status >= 400 && status < 500 && status !== 429) {
      throw new CredentialsError(401, errorOf(body))
    }
    const answer = status === 200 ? readAnswer(body) : null
    if (answer === null) throw new CredentialsError(null, body)
    return answer
  }
}

/** Rewrites an OAuth error (RFC 6749, section 5.2), so that it is read like all other errors. */
function errorOf(body: Buffer): Buffer {
  try {
    const { error: code, error_description: message } = JSON.parse(body.toString('utf8'))
    return Buffer.from(JSON.stringify({ error: { code, message: message ?? code } }))
  } catch {
    return body
  }
}

const usableMs = (lifetimeMs: number): number =>
  lifetimeMs > 2 * RENEW_BEFORE_MS ? lifetimeMs - RENEW_BEFORE_MS : lifetimeMs / 2

async function post(
  { dispatcher }: Connections,
  url: string,
  assertion: string,
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
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
      signal: AbortSignal.timeout(REQUEST_MS),
    })
    const parts: Buffer[] = []
    let length = 0
    for await (const part of body as AsyncIterable<Buffer>) {
      length += part.length
      if (length > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
      parts.push(part)
    }
    return { status: statusCode, body: Buffer.concat(parts) }
  } catch {
    throw new CredentialsError(null, Buffer.alloc(0))
  }
}

/** Reads a token and its lifetime. Returns null if the token can't be sent in a header. */
function readAnswer(body: Buffer): { readonly token: string; readonly lifetimeMs: number } | null {
  try {
    const answer = JSON.parse(body.toString('utf8')) as Readonly<Record<string, unknown>>
    const { access_token: token, expires_in: seconds } = answer
    if (typeof token !== 'string' || !/^[\x21-\x7e]{1,8192}$/.test(token)) return null
    const lifetimeMs = typeof seconds === 'number' ? seconds * 1_000 : 0
    // Without a usable lifetime, the token is used for a minute.
    return { token, lifetimeMs: Math.min(Math.max(lifetimeMs, 120_000), LIFETIME_MS_MAX) }
  } catch {
    return null
  }
}

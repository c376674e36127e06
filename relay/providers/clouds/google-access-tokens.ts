import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { Connections } from '#infra/outbound/outbound-connections.ts'
import type { JsonObject } from '#relay/canonical/json-values.ts'
import { CredentialsError } from '#relay/providers/provider-access-and-decoder-types.ts'
import {
  type AccessToken,
  AccessTokenCache,
  postTokenRequest,
  readAccessToken,
} from './access-token-cache.ts'

/** The members of a service account's key file that the gateway uses. */
export type ServiceAccount = {
  readonly clientEmail: string
  readonly privateKey: KeyObject
  readonly privateKeyText: string
  readonly privateKeyId: string
  readonly projectId: string
  /** The address of the token endpoint. Empty for Google's endpoint. */
  readonly tokenUri: string
}

/**
 * Reads a service account's key file. Returns null if a required member is missing or malformed.
 */
export function readServiceAccount(text: string): ServiceAccount | null {
  try {
    const file = JSON.parse(text) as JsonObject
    const textOf = (name: string): string => {
      const value = file[name]
      return typeof value === 'string' ? value : ''
    }
    const [clientEmail, projectId] = [textOf('client_email'), textOf('project_id')]
    // The id of a project may begin with a domain (`example.com:project`).
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
 * the endpoint `audience`. `now` is in Unix milliseconds.
 */
async function signedAssertion(
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

/** Caches the access token of one service account. */
export class GoogleAccessTokens extends AccessTokenCache {
  constructor(account: ServiceAccount, tokenUrl: string, now: () => number = Date.now) {
    super((connections) => requestToken(connections, account, tokenUrl, now()), now)
  }
}

async function requestToken(
  connections: Connections,
  account: ServiceAccount,
  tokenUrl: string,
  now: number,
): Promise<AccessToken> {
  const assertion = await signedAssertion(account, tokenUrl, now)
  const form = { grant_type: GRANT, assertion }
  const { status, body } = await postTokenRequest(connections, tokenUrl, form)
  // With these statuses, the endpoint refuses the assertion, so the key is at fault. All other
  // errors are faults of Google.
  if (status >= 400 && status < 500 && status !== 429) {
    throw new CredentialsError(401, errorOf(body))
  }
  const answer = status === 200 ? readAccessToken(body) : null
  if (answer === null) throw new CredentialsError(null, body)
  return answer
}

/**
 * Converts an OAuth error (RFC 6749, section 5.2) to the form of all other errors, an object
 * `error` with a code and a message. Returns a body that is not JSON unchanged.
 */
function errorOf(body: Buffer): Buffer {
  try {
    const { error: code, error_description: message } = JSON.parse(body.toString('utf8'))
    return Buffer.from(JSON.stringify({ error: { code, message: message ?? code } }))
  } catch {
    return body
  }
}

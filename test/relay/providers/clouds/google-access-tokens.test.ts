import { verify } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import { createOutbound } from '#infra/outbound/outbound-connections.ts'
import { operatorPolicy, userPolicy } from '#infra/outbound/outbound-policy.ts'
import {
  GoogleAccessTokens,
  readServiceAccount,
} from '#relay/providers/clouds/google-access-tokens.ts'
import { CredentialsError } from '#relay/providers/provider-access-and-decoder-types.ts'
import { scriptedProvider } from '#test/relay/support/scripted-provider.ts'
import {
  SERVICE_ACCOUNT_PUBLIC_KEY,
  serviceAccountFile,
} from '#test/relay/support/service-account.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
const google = startedForEach(scriptedProvider)
const outbound = startedForEach(async () => createOutbound(policy))
const PATH = 'POST /token'
const MINUTE = 60_000
let now = 0

function tokens(): GoogleAccessTokens {
  const account = readServiceAccount(serviceAccountFile())
  if (account === null) throw new Error('no account')
  return new GoogleAccessTokens(account, `${google.url}/token`, () => now)
}

beforeEach(() => {
  now = 1_700_000_000_000
  google.answers.set(PATH, { body: { access_token: 'ya29.one', expires_in: 3600 } })
})

const failureOf = (promise: Promise<string>): Promise<CredentialsError> =>
  promise.then(
    () => Promise.reject(new Error('a token was issued')),
    (error: unknown) => error as CredentialsError,
  )

describe('an access token', () => {
  it('is requested with an assertion that the public key verifies', async () => {
    expect(await tokens().token(outbound)).toBe('ya29.one')
    const form = new URLSearchParams(google.requests[0]?.body)
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const signed = Buffer.from(`${header}.${claims}`)
    const bytes = Buffer.from(signature, 'base64url')
    expect(verify('RSA-SHA256', signed, SERVICE_ACCOUNT_PUBLIC_KEY, bytes)).toBe(true)
    const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8'))
    expect(read(header)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: 'planted-key-id-0123456789abcdef',
    })
    expect(read(claims)).toEqual({
      iss: 'planted-caller@planted-project-4711.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: `${google.url}/token`,
      iat: 1_700_000_000,
      exp: 1_700_003_600,
    })
  })

  it('is requested once for many calls, and again 5 minutes before its end', async () => {
    const source = tokens()
    await Promise.all(Array.from({ length: 50 }, () => source.token(outbound)))
    now += 54 * MINUTE
    await source.token(outbound)
    expect(google.requests).toHaveLength(1)
    google.answers.set(PATH, { body: { access_token: 'ya29.two', expires_in: 3600 } })
    now += MINUTE
    expect(await source.token(outbound)).toBe('ya29.two')
    expect(source.current).toBe('ya29.two')
  })

  it('is not used for longer than an hour, whatever its answer says', async () => {
    const source = tokens()
    google.answers.set(PATH, { body: { access_token: 'ya29.one', expires_in: 1e12 } })
    await source.token(outbound)
    now += 56 * MINUTE
    await source.token(outbound)
    expect(google.requests).toHaveLength(2)
  })

  it.each([0, -5, '3600', null, undefined])(
    'with the lifetime %j is used for a minute',
    async (expires_in) => {
      const source = tokens()
      google.answers.set(PATH, { body: { access_token: 'ya29.one', expires_in } })
      await source.token(outbound)
      now += MINUTE - 1
      await source.token(outbound)
      expect(google.requests).toHaveLength(1)
      now += 1
      await source.token(outbound)
      expect(google.requests).toHaveLength(2)
    },
  )

  it('that was refused is dropped, but not again and again', async () => {
    const source = tokens()
    await source.token(outbound)
    source.drop()
    await source.token(outbound)
    expect(google.requests).toHaveLength(1)
    now += MINUTE
    source.drop()
    await source.token(outbound)
    expect(google.requests).toHaveLength(2)
  })
})

describe('a failure to get a token', () => {
  it.each([400, 401, 403])('with status %i is the key’s fault for 10 seconds', async (status) => {
    const source = tokens()
    const body = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }
    google.answers.set(PATH, { status, body })
    const error = await failureOf(source.token(outbound))
    expect(error).toBeInstanceOf(CredentialsError)
    expect({ status: error.status, body: error.body.toString() }).toEqual({
      status: 401,
      body: '{"error":{"code":"invalid_grant","message":"Invalid JWT Signature."}}',
    })
    await failureOf(source.token(outbound))
    now += 9_999
    await failureOf(source.token(outbound))
    expect(google.requests).toHaveLength(1)
    google.answers.set(PATH, { body: { access_token: 'ya29.two', expires_in: 3600 } })
    now += 1
    expect(await source.token(outbound)).toBe('ya29.two')
  })

  it.each([
    ['a busy server', { status: 503, body: {} }],
    ['too many requests', { status: 429, body: {} }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }],
    ['an answer without a token', { body: { expires_in: 3600 } }],
    ['an answer that is no JSON', { body: '<html>' }],
    ['a token that would break out of its header', { body: { access_token: 'a\r\nx: y' } }],
    ['an answer without end', { body: 'x'.repeat(70_000) }],
  ])('because of %s is not the key’s fault', async (_, answer) => {
    google.answers.set(PATH, answer)
    const error = await failureOf(tokens().token(outbound))
    expect(error).toBeInstanceOf(CredentialsError)
    expect(error.status).toBeNull()
  })

  it('is the result if the policy forbids the address', async () => {
    const strict = createOutbound(userPolicy)
    const error = await failureOf(tokens().token(strict))
    await strict.close()
    expect(error.status).toBeNull()
    expect(google.requests).toHaveLength(0)
  })
})

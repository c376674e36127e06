import { expect, it } from 'vitest'
import { awsSigner } from '#relay/providers/clouds/sign-aws-request.ts'

/** The credentials, the time and the signatures of AWS' published test suite for version 4. */
const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}
const AT = new Date('2015-08-30T12:36:00Z')
const SESSION =
  'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxf' +
  'pSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPk' +
  'yQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBA' +
  'z+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

const VECTORS = [
  {
    name: 'get-vanilla',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  {
    name: 'get-vanilla-query-order-key-case',
    path: '/?Param2=value2&Param1=value1',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  {
    name: 'post-vanilla',
    method: 'POST',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  {
    name: 'post-x-www-form-urlencoded',
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Param1=value1',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  },
  {
    name: 'post-sts-header-before',
    method: 'POST',
    sessionToken: SESSION,
    signature: '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
  },
]

it.each(VECTORS)('$name of the published test suite has its signature', async (vector) => {
  const { method = 'GET', path = '/', headers = {}, body = '', sessionToken } = vector
  const credentials = sessionToken === undefined ? CREDENTIALS : { ...CREDENTIALS, sessionToken }
  const sign = awsSigner(credentials, 'us-east-1', 'service')
  const origin = 'https://example.amazonaws.com'
  const signed = await sign({ method, origin, path, headers, body: Buffer.from(body) }, AT)
  expect(signed.authorization).toContain(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ',
  )
  expect(signed.authorization).toMatch(new RegExp(`Signature=${vector.signature}$`))
  expect(signed['x-amz-date']).toBe('20150830T123600Z')
  expect(signed['x-amz-security-token']).toBe(sessionToken)
})

it('every byte of the body, the path and the host changes the signature', async () => {
  const sign = awsSigner(CREDENTIALS, 'us-east-1', 'bedrock')
  const request = {
    method: 'POST',
    origin: 'http://127.0.0.1:8080',
    path: '/model/anthropic.claude-3-haiku-20240307-v1%3A0/invoke',
    headers: {},
    body: Buffer.from('{}'),
  }
  const variants = [
    request,
    { ...request, body: Buffer.from('{} ') },
    { ...request, path: '/model/anthropic.claude-3-haiku-20240307-v1:0/invoke' },
    { ...request, origin: 'http://127.0.0.1:8081' },
  ]
  const signatures = await Promise.all(
    variants.map(async (variant) => (await sign(variant, AT)).authorization),
  )
  expect(new Set(signatures).size).toBe(variants.length)
})

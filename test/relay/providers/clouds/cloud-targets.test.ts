import { describe, expect, it } from 'vitest'
import type { ChannelTerms } from '#domain/channels/events.ts'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import type { FormatName } from '#relay/dialects/wire-format.ts'
import {
  confidentialOf,
  providerCall,
  providerTarget,
} from '#relay/providers/profiles/provider-target.ts'
import { serviceAccountFile } from '#test/relay/support/service-account.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
const target = (type: number, key: string, terms: Partial<ChannelTerms> = {}) =>
  providerTarget({ ...PLAIN_CHANNEL_TERMS, type, ...terms }, key, policy)

function addressOf(
  type: number,
  key: string,
  {
    model,
    format = 'messages',
    isStream = false,
    ...terms
  }: Partial<ChannelTerms> & {
    model: string
    format?: FormatName
    isStream?: boolean
  },
): string {
  const found = target(type, key, terms)
  if (found === null) return 'none'
  const draft = { headers: [], body: Buffer.from('{}') }
  const { origin, path } = providerCall(found, format, { model, isStream }, draft)
  return origin + path
}

const AWS = 'AKIDEXAMPLE|secret/+key|eu-west-1'

describe('a Bedrock key', () => {
  const model = 'claude-haiku-4-5'
  const HAIKU = 'eu.anthropic.claude-haiku-4-5-20251001-v1%3A0'

  it('selects the address and the inference profile by its region', () => {
    const base = `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${HAIKU}`
    expect(addressOf(33, AWS, { model })).toBe(`${base}/invoke`)
    expect(addressOf(33, AWS, { model, isStream: true })).toBe(
      `${base}/invoke-with-response-stream`,
    )
    expect(addressOf(33, 'api-key|eu-west-1', { model })).toBe(`${base}/invoke`)
    const baseUrl = 'https://bedrock-runtime.amazonaws.com'
    expect(addressOf(33, AWS, { model, baseUrl })).toBe(`${base}/invoke`)
  })

  it('is used at the address that the operator has entered', () => {
    const baseUrl = 'https://vpce.example/aws'
    expect(addressOf(33, AWS, { model, baseUrl })).toBe(
      `https://vpce.example/aws/model/${HAIKU}/invoke`,
    )
  })

  it('keeps a model’s name in its place of the path', () => {
    const arn = 'arn:aws:bedrock:eu-west-1:1:inference-profile/../../x?y#z'
    expect(addressOf(33, AWS, { model: arn })).toContain('/model/arn%3Aaws%3Abedrock%3Aeu-west-1')
    expect(addressOf(33, AWS, { model: arn })).toMatch(/x%3Fy%23z\/invoke$/)
  })

  it.each([
    '',
    'only-one-part',
    'a|b|c|d|e',
    'AKID|secret|',
    'AKID||us-east-1',
    'AKID|secret|us-east-1.evil.example/',
    'AKID|sec ret|us-east-1',
    'AKID|secr\r\net|us-east-1',
    'AKID|secret|us-east-1|tok\nen',
    'AKID|secret|us-east-1|',
  ])('%j is malformed', (key) => {
    expect(target(33, key)).toBeNull()
  })

  it('has all its parts and its host hidden', () => {
    const found = target(33, `${AWS}|session-token`)
    expect(found && confidentialOf(found)).toEqual(
      expect.arrayContaining([
        ...['AKIDEXAMPLE', 'secret/+key', 'session-token'],
        'bedrock-runtime.eu-west-1.amazonaws.com',
      ]),
    )
  })
})

describe('a Vertex key', () => {
  const file = serviceAccountFile()
  const project = 'v1/projects/planted-project-4711/locations'

  it.each([
    ['', 'global', 'aiplatform.googleapis.com'],
    ['us-east5', 'us-east5', 'us-east5-aiplatform.googleapis.com'],
    ['eu', 'eu', 'aiplatform.eu.rep.googleapis.com'],
    ['{"default":"us-central1"}', 'us-central1', 'us-central1-aiplatform.googleapis.com'],
    [
      '{"default":"us-central1","claude-opus-5":"us-east5"}',
      'us-east5',
      'us-east5-aiplatform.googleapis.com',
    ],
    ['{"gemini-2.5-pro":"us-east5"}', 'global', 'aiplatform.googleapis.com'],
  ])('with the region %j is used in %s', (other, region, host) => {
    expect(addressOf(41, file, { model: 'claude-opus-5', other })).toBe(
      `https://${host}/${project}/${region}/publishers/anthropic/models/claude-opus-5:rawPredict`,
    )
  })

  it('selects the publisher and the method by model and stream', () => {
    const models = `https://aiplatform.googleapis.com/${project}/global/publishers`
    expect(addressOf(41, file, { model: 'claude-haiku-4-5-20251001', isStream: true })).toBe(
      `${models}/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict`,
    )
    const gemini = { model: 'gemini-2.5-pro', format: 'gemini' } as const
    expect(addressOf(41, file, gemini)).toBe(
      `${models}/google/models/gemini-2.5-pro:generateContent`,
    )
    expect(addressOf(41, file, { ...gemini, isStream: true })).toBe(
      `${models}/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse`,
    )
  })

  it('that is an API key needs no project', () => {
    const gemini = { model: 'gemini-2.5-pro', format: 'gemini' } as const
    expect(addressOf(41, 'AQ.api-key', gemini)).toBe(
      'https://aiplatform.googleapis.com/v1/publishers/google/models/gemini-2.5-pro:generateContent',
    )
  })

  it.each([
    'us-east1.evil.example/',
    'us_east1',
    '{"default":7}',
    '{"default":"a/b"}',
    '{"default"',
    '{"claude-opus-5":"us-east5@evil.example"}',
  ])('is not used with the region %j', (other) => {
    expect(target(41, file, { other })).toBeNull()
  })

  it.each([
    ['a private key', { private_key: 'no PEM' }],
    ['a private key', { private_key: 7 }],
    ['an account', { client_email: '' }],
    ['a project', { project_id: 'a/../b' }],
    ['a token endpoint of Google', { token_uri: 'https://evil.example/token' }],
    ['a token endpoint of Google', { token_uri: 'http://oauth2.googleapis.com/token' }],
    ['a token endpoint of Google', { token_uri: 'https://oauth2.googleapis.com:8443/token' }],
    ['a token endpoint of Google', { token_uri: 'https://x@oauth2.googleapis.com/token' }],
    ['a token endpoint of Google', { token_uri: 'https://oauth2.googleapis.com.evil.example/' }],
  ])('without %s is malformed', (_, fields) => {
    expect(target(41, serviceAccountFile(fields))).toBeNull()
  })

  it('may use a token endpoint at the operator’s own address only', () => {
    const key = serviceAccountFile({ token_uri: 'https://proxy.example/oauth/token' })
    expect(target(41, key, { baseUrl: 'https://proxy.example/vertex' })).not.toBeNull()
    expect(target(41, key, { baseUrl: 'https://proxy.example.evil/' })).toBeNull()
    expect(target(41, key, { baseUrl: 'http://proxy.example/' })).toBeNull()
  })

  it('has every part of its file and all hosts hidden', () => {
    const found = target(41, file, { other: '{"default":"us-central1"}' })
    const hidden = found === null ? [] : confidentialOf(found)
    const { private_key, client_email, project_id, client_id, private_key_id } = JSON.parse(file)
    expect(hidden).toEqual(
      expect.arrayContaining([
        ...[private_key, client_email, project_id, client_id, private_key_id],
        ...String(private_key).split('\n').slice(1, -2),
        'us-central1-aiplatform.googleapis.com',
      ]),
    )
    expect(hidden).not.toContain('service_account')
  })
})

import { describe, expect, it } from 'vitest'
import { isLoggableId, redact, redactMembers } from '#relay/canonical/redact-provider-texts.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

describe('a message of a provider', () => {
  it.each([
    ['sk-proj-SECRET0123456789'],
    ['AIzaSyD-SECRET0123456789abcdef'],
    ['Bearer SECRETtoken'],
    ['ya29.SECRETtoken'],
    ['AKIASECRET0123456789'],
    ['bce-v3/ALTAK-SECRET/0123'],
    ['eyJSECRETabc.eyJSECRET.sig'],
    ['api_key=SECRET0'],
    ['API key provided: SECRET0'],
    ['SECR****0123'],
    ['org-SECRET0123'],
    ['proj_SECRET0123'],
    ['proj-SECRET0123'],
    ['ak-SECRETf817m9q3k3wi11'],
    ['req_SECRET01234567'],
    ['arn:aws:iam::123456789012:user/SECRET'],
    ['projects/SECRET-1234/locations'],
    ['project number 1234SECRET'],
    ['secret.person@SECRET.example.org'],
    ['0f8fad5b-d9cb-469f-a165-70867728950e'],
    ['d41d8cd98f00b204e9800998ecf8427e'],
    ['210012345678'],
    ['SECRETabcdefghij0123456789ABCDEFGHIJKL'],
    ['https://SECRET.example.com/v1?key=1'],
    ['socks5://SECRET:1080'],
    ['10.20.30.40:8080'],
    ['SECRET.internal'],
    ['secret-resource.openai.azure.com'],
    ['SECRET-host:8443'.replace('-host', '.host')],
    ['2001:db8:0:0:0:0:0:1'],
    ['fe80::1:2'],
    ['localhost:8080'],
  ])('does not show %s', (secret) => {
    for (const text of [secret, `Error (${secret}).`, `"${secret}"`, `密钥${secret}，无效`]) {
      const shown = redact(`Before ${text} behind`, [])
      expect(shown).not.toContain(secret)
      expect(shown).not.toMatch(/SECRET|secret-res|20\.30|db8|fe80|210012345678|localhost/)
      expect(shown).toMatch(/^Before .*\*\*\*.* behind$/)
    }
  })

  it('loses a confidential text in any letter case and percent-encoded', () => {
    const confidential = ['Api.Provider.Example', 'key/with+signs=']
    const text = 'At api.PROVIDER.example with key%2Fwith%2Bsigns%3D or KEY/with+signs='
    expect(redact(text, confidential)).toBe('At *** with *** or ***')
  })

  it.each([
    'prompt is too long: 210000 tokens > 200000 maximum',
    'messages.1: `tool_use` ids without `tool_result`: toolu_bdrk_01A09q90qw90lq917835lq9aB',
    "This model's maximum context length is 128000 tokens. However, you requested 130001 tokens.",
    'messages.0.content.1.image.source.base64.data: image exceeds 5 MB maximum: 5242881 bytes',
    "Invalid 'input[3].content': expected one of 'input_text', got null at 12:30:45.",
    'Rate limit reached for gpt-5 on tokens per min (TPM): Limit 30000. Try again in 6s.',
    'No tool output found for function call call_A1b2C3d4E5f6G7h8I9j0K1l2M3n4.',
    'Overloaded',
  ])('keeps the wording: %s', (text) => {
    expect(redact(text, [])).toBe(text)
  })

  it('is searched in bounded time', () => {
    const keys = Array.from({ length: 1_000 }, (_, at) => `private-key-number-${at}-of-many`)
    const texts = ['a', 'a-', 'a.', 'a:', '*', 'project ', 'sk-', 'AKIA', '::'].map((part) =>
      part.repeat(1_048_576 / part.length),
    )
    const startedAt = threadCpuMs()
    for (const text of texts) expect(redact(text, keys).length).toBeLessThanOrEqual(2_000)
    expect(threadCpuMs() - startedAt).toBeLessThan(budget(2_000))
  })
})

describe('the members of an error of a provider', () => {
  it('keep what clients read, without accounts and addresses', () => {
    const error = {
      code: 429,
      message: 'Quota exceeded for project 123456789.',
      status: 'RESOURCE_EXHAUSTED',
      request_id: 'req_SECRET01234567',
      user_id: 'user_SECRET',
      account: 7,
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
          violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
        },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34s' },
        { reason: 'RATE_LIMIT', metadata: { consumer: 'projects/SECRET', host: 'SECRET' } },
      ],
    }
    expect(redactMembers({ error }, [], 'our-id')).toEqual({
      error: {
        ...error,
        message: 'Quota exceeded for ***.',
        request_id: 'our-id',
        user_id: '***',
        account: '***',
        details: [
          error.details[0],
          error.details[1],
          { reason: 'RATE_LIMIT', metadata: { consumer: '***', host: '***' } },
        ],
      },
    })
  })

  it('of an aggregator name the provider behind it, but not the model there', () => {
    const behind = { provider_name: 'OpenAI', error_type: 'content_policy_violation' }
    const metadata = { ...behind, model_slug: 'openai/gpt-5-2026-01-01', raw: 'at example.com' }
    const shown = redactMembers({ error: { code: 403, metadata } }, [], '')
    expect(shown).toEqual({
      error: { code: 403, metadata: { ...behind, model_slug: '***', raw: 'at ***' } },
    })
  })

  it('have no secret in a name', () => {
    const named = { 'sk-SECRET0123456789': 1, private: 2, 'PRIVATE-KEY-1': 3 }
    expect(redactMembers(named, ['private-key-1'], '')).toEqual({ private: 2 })
  })

  it('are bounded in depth, number and length', () => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 5_000; depth += 1) deep = { deep }
    const wide = Array.from({ length: 50_000 }, (_, at) => `text ${at}`)
    const texts = Array.from({ length: 40 }, () => 'x y '.repeat(1_000))
    const shown = JSON.stringify(redactMembers({ deep, texts, wide }, [], ''))
    expect(shown).not.toContain('bottom')
    expect(shown.length).toBeLessThan(12_000)
  })
})

it('an id is logged only without a key or an address', () => {
  expect(isLoggableId('req_011CSHoEeqs5C35K2UUqR7Fy', ['secret-key-1'])).toBe(true)
  expect(isLoggableId('0f8fad5b-d9cb-469f-a165-70867728950e', [])).toBe(true)
  for (const id of ['sk-secret-0123', 'x-SECRET-KEY-1', 'a b', '', 'x'.repeat(129)]) {
    expect(isLoggableId(id, ['secret-key-1'])).toBe(false)
  }
})

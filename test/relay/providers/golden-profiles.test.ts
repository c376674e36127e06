import { describe, expect, it } from 'vitest'
import { operatorPolicy } from '#infra/outbound/outbound-policy.ts'
import { readOpenAiUsage } from '#relay/canonical/read-openai-usage-for-billing.ts'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { OPENAI_CHAT, readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { upstreamBody } from '#relay/dialects/openai-chat/upstream-body.ts'
import { usageInAnswer } from '#relay/dialects/openai-chat/usage-in-answer.ts'
import { StreamForwarder } from '#relay/pipeline/stream-forwarder.ts'
import { PROFILES, profileOf } from '#relay/providers/profiles/profiles-by-channel-type.ts'
import { providerTarget } from '#relay/providers/profiles/provider-target.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'
import { PROVIDER_STREAMS } from './provider-streams.ts'

const KEY_HEADERS = new Map([
  [3, ['api-key', 'sk-1']],
  [14, ['x-api-key', 'sk-1']],
  [24, ['x-goog-api-key', 'sk-1']],
])
const BOUNDS = { inputCeiling: 300_000, outputCeiling: 300_000 }

/** The stream in these pieces, to a caller who asked for usage or not. */
function carried(pieces: readonly Buffer[], wantsUsage: boolean) {
  const written: Buffer[] = []
  const outlet = { write: (bytes: Buffer) => written.push(Buffer.from(bytes)) > 0 }
  const forwarder = new StreamForwarder(OPENAI_CHAT, outlet, wantsUsage, null, () => {})
  for (const piece of pieces) forwarder.push(Buffer.from(piece))
  const text = Buffer.concat([...written, forwarder.terminalBytes()]).toString('utf8')
  return { text, verdict: forwarder.verdict, rawUsage: forwarder.rawUsage }
}

const normalised = (rawUsage: unknown, type: number) => {
  const isTotalLessPrompt = profileOf(type)?.isOutputTotalLessPrompt ?? false
  return readOpenAiUsage(rawUsage, BOUNDS, isTotalLessPrompt)
}

describe.each(PROVIDER_STREAMS)('$name', ({ type, events, usage }) => {
  const all = events.map((event) => (typeof event === 'string' ? event : event.dropped)).join('')
  const shown = events.filter((event) => typeof event === 'string').join('')
  const bytes = Buffer.from(all)

  it('reaches the caller and is billed the same, split at any byte', () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at)]
      const { text, verdict, rawUsage } = carried(pieces, false)
      expect(text, `split at ${at}`).toBe(shown)
      expect(verdict).toBe('done')
      expect(normalised(rawUsage, type), `split at ${at}`).toMatchObject({ isTrusted: true, usage })
    }
  })

  it('reaches a caller who asks for usage unchanged, byte by byte', () => {
    const pieces = [...bytes].map((byte) => Buffer.from([byte]))
    const { text, rawUsage } = carried(pieces, true)
    expect(text).toBe(all)
    expect(normalised(rawUsage, type)).toMatchObject({ isTrusted: true, usage })
  })

  it('has the same usage in a plain answer', () => {
    const { rawUsage } = carried([bytes], false)
    const message = { role: 'assistant', content: 'say "usage":{"prompt_tokens":999}' }
    const plain = { choices: [{ index: 0, message }], usage: rawUsage }
    const read = usageInAnswer(Buffer.from(JSON.stringify(plain)))
    expect(normalised(read, type)).toMatchObject({ isTrusted: true, usage })
  })
})

describe('usage in a plain answer', () => {
  it.each([
    [
      'includes the cached count that llama.cpp sends beside it',
      '{"choices":[{}],"usage":{"prompt_tokens":30,"completion_tokens":2},"timings":{"cache_n":25}}',
      { inputUncached: 5, cacheRead: 25 },
    ],
    [
      'prefers OpenAI’s cached count over that of llama.cpp',
      '{"choices":[{}],"usage":{"prompt_tokens":30,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}},"timings":{"cache_n":25}}',
      { inputUncached: 27, cacheRead: 3 },
    ],
    [
      'is read inside a choice',
      '{"choices":[{"index":0,"usage":{"prompt_tokens":30,"completion_tokens":2}}]}',
      { inputUncached: 30, output: 2 },
    ],
  ])('%s', (_name, body, usage) => {
    expect(normalised(usageInAnswer(Buffer.from(body)), 8)).toMatchObject({ usage })
  })
})

/** Those that refuse `stream_options`, and send usage without. */
const UNASKED = [27, 34, 42]

describe('request to a provider', () => {
  const body = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
  const request = readChatRequest(Buffer.from(body))

  function sent(type: number, setting: string): string {
    if (isRelayError(request)) throw new Error('no request')
    const rules = channelRules({ ...PLAIN_CHANNEL_TERMS, type, setting })
    const { takesIncludeUsage: forcesUsage, overrides, allowedMembers: allowed } = rules
    const { body } = upstreamBody(request, { model: 'm', forcesUsage, overrides, allowed })
    return body.toString('utf8')
  }

  const chats = PROFILES.filter(({ endpoints: [first] }) => first?.format === 'chat')
  it.each(chats.map(({ id, name }) => [id, name] as const))(
    'of type %i, %s asks for usage where possible, and the channel can override that',
    (type) => {
      const asking = `{"stream_options":{"include_usage":true},${body.slice(1)}`
      expect(sent(type, '')).toBe(UNASKED.includes(type) ? body : asking)
      expect(sent(type, '{"include_usage":false}')).toBe(body)
      expect(sent(type, '{"include_usage":true}')).toBe(asking)
    },
  )

  const plain = PROFILES.filter(({ cloud }) => cloud === undefined)
  it.each(plain.map(({ id, name }) => [id, name] as const))(
    'of type %i, %s has exactly the expected headers',
    (type) => {
      const policy = operatorPolicy({ port: 3000, isLoopback: true, privateUpstreams: [] })
      const baseUrl = 'https://a.example'
      const terms = { ...PLAIN_CHANNEL_TERMS, type, baseUrl, other: 'x', organization: 'org-1' }
      const target = providerTarget(terms, 'sk-1', policy)
      expect(target?.headers).toEqual([
        'content-type',
        'application/json',
        ...(KEY_HEADERS.get(type) ?? ['authorization', 'Bearer sk-1']),
        'accept-encoding',
        'identity',
        'user-agent',
        'tallygate',
        'openai-organization',
        'org-1',
      ])
    },
  )
})

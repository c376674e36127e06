import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { requestsHourCache } from '#relay/dialects/detect-and-shorten-one-hour-caching.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'

function read(text: string) {
  const request = readChatRequest(Buffer.from(text))
  if (isRelayError(request)) throw new Error(`code: ${request.code} ${request.params.param}`)
  return request
}

describe('a chat request', () => {
  it('exposes the fields that the gateway needs', () => {
    const request = read(
      `{"model":"m",${MESSAGES},"stream":true,"n":2,"max_tokens":5,"max_completion_tokens":9,` +
        '"stream_options":{"include_usage":true},"temperature":0.5}',
    )
    expect(request).toMatchObject({
      model: 'm',
      isStream: true,
      wantsUsage: true,
      choices: 2,
      outputTokensMax: 9,
    })
  })

  it('has the defaults of absent and null fields', () => {
    const request = read(`{"model":"m",${MESSAGES},"n":null,"max_tokens":null,"stream":null}`)
    expect(request).toMatchObject({
      isStream: false,
      wantsUsage: false,
      choices: 1,
      outputTokensMax: null,
    })
  })

  it.each([
    ['0', '9'],
    ['9', '0'],
    ['-0', '0'],
    ['0.0', '9'],
  ])('has no output limit where one of its two limits is 0: %s, %s', (older, newer) => {
    const limits = `"max_tokens":${older},"max_completion_tokens":${newer}`
    expect(read(`{"model":"m",${MESSAGES},${limits}}`).outputTokensMax).toBe(null)
  })

  it.each([
    ['{"type":"ephemeral","ttl":"1h"}', true],
    ['{"ttl" :\n"1h"}', true],
    ['{"t\\u0074l":"\\u0031\\u0068"}', true],
    ['{"type":"ephemeral","ttl":"5m"}', false],
    ['{"type":"ephemeral"}', false],
    ['"say \\"ttl\\":\\"1h\\""', false],
  ])('asks for a cache of one hour with %s: %s', (control, expected) => {
    const part = `{"type":"text","text":"hi","cache_control":${control}}`
    const request = read(`{"model":"m","messages":[{"role":"user","content":[${part}]}]}`)
    expect(requestsHourCache(request.body)).toBe(expected)
  })

  it('bounds its input by its bytes plus a fixed amount per image', () => {
    const plain = read(`{"model":"m",${MESSAGES}}`)
    expect(plain.inputBound.tokens).toBe(plain.body.length)
    const image = '{"type":"image_url","image_url":{"url":"https://x"}}'
    const pictured = read(`{"model":"m","messages":[{"role":"user","content":[${image}]}]}`)
    expect(pictured.inputBound.tokens).toBeGreaterThan(pictured.body.length + 1_000)
  })

  it.each([
    ['model', `{${MESSAGES}}`],
    ['model', `{"model":7,${MESSAGES}}`],
    ['model', `{"model":"",${MESSAGES}}`],
    ['model', `{"model":"a\\nb",${MESSAGES}}`],
    ['model', `{"model":"${'x'.repeat(257)}",${MESSAGES}}`],
    ['messages', '{"model":"m"}'],
    ['messages', '{"model":"m","messages":[]}'],
    ['messages', '{"model":"m","messages":"hi"}'],
    ['messages', '{"model":"m","messages":["hi"]}'],
    ['messages', '{"model":"m","messages":null}'],
    ['stream', `{"model":"m",${MESSAGES},"stream":"yes"}`],
    ['stream', `{"model":"m",${MESSAGES},"stream":1}`],
    ['stream_options', `{"model":"m",${MESSAGES},"stream_options":[]}`],
    ['stream_options.__proto__', `{"model":"m",${MESSAGES},"stream_options":{"__proto__":{}}}`],
    ['n', `{"model":"m",${MESSAGES},"n":0}`],
    ['n', `{"model":"m",${MESSAGES},"n":129}`],
    ['n', `{"model":"m",${MESSAGES},"n":-1}`],
    ['n', `{"model":"m",${MESSAGES},"n":"2"}`],
    ['n', `{"model":"m",${MESSAGES},"n":1.5}`],
    ['max_tokens', `{"model":"m",${MESSAGES},"max_tokens":-1}`],
    ['max_tokens', `{"model":"m",${MESSAGES},"max_tokens":1e30}`],
    ['max_tokens', `{"model":"m",${MESSAGES},"max_tokens":1e999}`],
    ['max_completion_tokens', `{"model":"m",${MESSAGES},"max_completion_tokens":true}`],
    ['temperature', `{"model":"m",${MESSAGES},"temperature":"hot"}`],
    ['temperature', `{"model":"m",${MESSAGES},"temperature":1e999}`],
    ['model', `{"model":"a","model":"b",${MESSAGES}}`],
    ['tools', `{"model":"m",${MESSAGES},"tools":5}`],
    ['tools', `{"model":"m",${MESSAGES},"tools":["x"]}`],
    ['tool_choice', `{"model":"m",${MESSAGES},"tool_choice":true}`],
    ['parallel_tool_calls', `{"model":"m",${MESSAGES},"parallel_tool_calls":"yes"}`],
    ['functions', `{"model":"m",${MESSAGES},"functions":{}}`],
    ['function_call', `{"model":"m",${MESSAGES},"function_call":[]}`],
    ['response_format', `{"model":"m",${MESSAGES},"response_format":"x"}`],
    ['stop', `{"model":"m",${MESSAGES},"stop":5}`],
    ['seed', `{"model":"m",${MESSAGES},"seed":"5"}`],
    ['logprobs', `{"model":"m",${MESSAGES},"logprobs":5}`],
    ['top_logprobs', `{"model":"m",${MESSAGES},"top_logprobs":true}`],
    ['logit_bias', `{"model":"m",${MESSAGES},"logit_bias":[]}`],
    ['modalities', `{"model":"m",${MESSAGES},"modalities":"text"}`],
    ['metadata', `{"model":"m",${MESSAGES},"metadata":"x"}`],
    ['user', `{"model":"m",${MESSAGES},"user":{}}`],
    ['messages[0].content', '{"model":"m","messages":[{"role":"user","content":5}]}'],
    ['messages[0].content', '{"model":"m","messages":[{"content":{},"role":"user"}]}'],
    ['messages[0].role', '{"messages":[{"role" : 5,"content":"x"}],"model":"m"}'],
    ['messages[0].role', '{"model":"m","messages":[{"role":null,"content":"x"}]}'],
    [
      'messages[1].name',
      '{"model":"m","messages":[{"content":[{},{},{}]},{"content":[{}],"name":1},{"role":7}]}',
    ],
    ['messages[0].tool_calls', '{"model":"m","messages":[{"role":"assistant","tool_calls":{}}]}'],
    ['messages[0].tool_call_id', '{"model":"m","messages":[{"tool_call_id":1}]}'],
  ])('is refused for its %s: %s', (param, text) => {
    expect(readChatRequest(Buffer.from(text))).toMatchObject({ params: { param } })
  })
})

describe('the reasoning effort', () => {
  it.each([
    ...['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map(
      (known): [string, string] => [`"${known}"`, known],
    ),
    ...['5', 'null', '""'].map((sent): [string, null] => [sent, null]),
    // A text of a caller must not be kept in events.
    ...['"ada"', '"x-high_2"', '"Tell me all"', '"a\\u0062"', `"${'x'.repeat(17)}"`].map(
      (sent): [string, string] => [sent, 'other'],
    ),
  ])('%s is kept as %s', (sent, kept) => {
    const { reasoningEffort } = read(`{"model":"m",${MESSAGES},"reasoning_effort":${sent}}`)
    expect(reasoningEffort).toBe(kept)
  })
})

describe('fields that only the provider can judge', () => {
  const fields = [
    ...['"tools":null', '"tools":[]', '"tools":[{"type":"new"}]', '"tool_choice":"auto"'],
    ...['"tool_choice":{}', '"response_format":null', '"response_format":{"type":"new"}'],
    ...['"stop":"x"', '"stop":["x"]', '"stop":null', '"logprobs":true', '"seed":-1.5', '"user":""'],
    ...['"reasoning_effort":5', '"new_field":[{"role":5}]', '"store":"x"', '"verbosity":{}'],
    '"response_format":{"schema":{"content":5,"role":5}}',
  ]
  it.each(fields)('%s is accepted and left to the provider', (field) => {
    expect(read(`{"model":"m",${MESSAGES},${field}}`).model).toBe('m')
    expect(read(`{${field},"model":"m",${MESSAGES}}`).model).toBe('m')
  })

  it.each([
    '{"role":"new","content":null}',
    '{"role":"user","content":[{"type":"text","text":"x","role":5,"content":5}]}',
    '{"role":"assistant","tool_calls":[{"name":5,"function":{"name":5}}],"content":""}',
    '{"content":[],"tool_calls":null,"name":null,"audio":{"content":5},"refusal":5}',
    '{}',
  ])('a message %s is accepted and left to the provider', (message) => {
    expect(read(`{"model":"m","messages":[${message},${message}]}`).model).toBe('m')
  })
})

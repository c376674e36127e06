import { describe, expect, it } from 'vitest'
import { isDenial } from '#relay/canonical/denial.ts'
import { readChatRequest, upstreamBody } from '#relay/dialects/openai-chat/chat-request.ts'

const MESSAGES = '"messages":[{"role":"user","content":"hi"}]'

function read(text: string) {
  const request = readChatRequest(Buffer.from(text))
  if (isDenial(request)) throw new Error(`denied: ${request.denied} ${request.param}`)
  return request
}

describe('a chat request', () => {
  it('tells what the gateway must know', () => {
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

  it('without limits or options has their defaults, null being like absent', () => {
    const request = read(`{"model":"m",${MESSAGES},"n":null,"max_tokens":null,"stream":null}`)
    expect(request).toMatchObject({
      isStream: false,
      wantsUsage: false,
      choices: 1,
      outputTokensMax: null,
    })
  })

  it('bounds its input by its bytes, and by the piece for images', () => {
    const plain = read(`{"model":"m",${MESSAGES}}`)
    expect(plain.inputTokensMax).toBe(plain.body.length)
    const image = '{"type":"image_url","image_url":{"url":"https://x"}}'
    const pictured = read(`{"model":"m","messages":[{"role":"user","content":[${image}]}]}`)
    expect(pictured.inputTokensMax).toBeGreaterThan(pictured.body.length + 1_000)
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
  ])('is refused for its %s: %s', (param, text) => {
    expect(readChatRequest(Buffer.from(text))).toMatchObject({ param })
  })
})

describe('the bytes for the provider', () => {
  const NONE = new Map<string, string>()

  it('are the very bytes that came when nothing changes', () => {
    const request = read(`{"model":"m",${MESSAGES},  "odd" :\t[1.0, 2e0]}`)
    const change = { model: 'm', forcesUsage: true, overrides: NONE }
    expect(upstreamBody(request, change)).toBe(request.body)
  })

  it('carry a mapped model and nothing else new', () => {
    const request = read(`{ "model" : "m" , ${MESSAGES}, "x":1.0}`)
    const body = upstreamBody(request, { model: 'other', forcesUsage: true, overrides: NONE })
    expect(body.toString()).toBe(`{ "model" : "other" , ${MESSAGES}, "x":1.0}`)
  })

  it('ask for usage in a stream, keeping the caller’s other options', () => {
    const options = '"stream_options":{"x":1}'
    for (const text of [
      `{"model":"m",${MESSAGES},"stream":true}`,
      `{"model":"m",${MESSAGES},"stream":true,"stream_options":null}`,
      `{"model":"m",${MESSAGES},"stream":true,${options}}`,
    ]) {
      const request = read(text)
      const body = upstreamBody(request, { model: 'm', forcesUsage: true, overrides: NONE })
      const sent = JSON.parse(body.toString()) as { stream_options: { x?: number } }
      expect(sent.stream_options).toMatchObject({ include_usage: true })
      expect(sent.stream_options.x).toBe(text.includes(options) ? 1 : undefined)
    }
  })

  it('take overrides in and stay one object with each key once', () => {
    const request = read(`{"model":"m",${MESSAGES},"temperature":1}`)
    const overrides = new Map([
      ['temperature', '0.1'],
      ['top_k', '3'],
    ])
    const body = upstreamBody(request, { model: 'other', forcesUsage: true, overrides })
    const again = read(body.toString())
    expect(again.model).toBe('other')
    expect(JSON.parse(body.toString())).toMatchObject({ temperature: 0.1, top_k: 3 })
  })
})

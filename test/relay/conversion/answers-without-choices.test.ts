import { describe, expect, it } from 'vitest'
import { convertCall } from '#relay/conversion/convert-call.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'

const PATH = { model: 'm', isStream: false }
const ANSWERS: Readonly<Record<'gemini' | 'chat', readonly object[]>> = {
  gemini: [{ usageMetadata: { promptTokenCount: 5 } }, { candidates: [], modelVersion: 'g' }],
  chat: [{ id: 'x', choices: [], usage: { prompt_tokens: 5 } }, { id: 'x' }],
}
const REQUESTS = {
  chat: { model: 'm', messages: [{ role: 'user', content: 'q' }] },
  gemini: { contents: [{ parts: [{ text: 'q' }] }] },
} as const

describe.each([
  ['chat', 'gemini'],
  ['gemini', 'chat'],
] as const)('an answer without choices that a caller of %s gets of %s', (from, to) => {
  const target = { format: to, model: 'm', outputTokensMax: 9, vendor: OPENAI }
  const call = convertCall(from, Buffer.from(JSON.stringify(REQUESTS[from])), PATH, target)

  it.each([...ANSWERS[to]])('has one empty choice (%j)', (body) => {
    const answer = call.convertAnswer(Buffer.from(JSON.stringify(body)), 'id')
    const { choices, candidates } = JSON.parse(`${answer}`)
    const message = { role: 'assistant', content: '', refusal: null }
    const content = { role: 'model', parts: [{ text: '' }] }
    expect(choices ?? candidates).toMatchObject([
      from === 'chat' ? { message, finish_reason: 'stop' } : { content, finishReason: 'STOP' },
    ])
  })

  it('has one empty choice in a stream', () => {
    const stream = call.createStream('id')
    const text = `${stream.end(Buffer.from(`data: ${JSON.stringify(ANSWERS[to][0])}\n\n`))}`
    expect(text).toContain(from === 'chat' ? '"finish_reason":"stop"' : '"finishReason":"STOP"')
  })
})

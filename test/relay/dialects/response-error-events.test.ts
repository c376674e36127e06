import { describe, expect, it } from 'vitest'
import { RESPONSES_ERRORS } from '#relay/dialects/openai-responses/response-errors.ts'

const BODY = { error: { message: 'It failed.', type: 'server_error', param: null, code: null } }
const eventOf = (data: object) => Buffer.from(`event: e\ndata: ${JSON.stringify(data)}\n\n`)
const dataOf = (events: string) =>
  events
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, unknown>)

describe('the error of a streamed response', () => {
  const begun = { id: 'resp_7', object: 'response', created_at: 9, model: 'm', status: 'queued' }
  const first = eventOf({ type: 'response.created', sequence_number: 0, response: begun })

  it('belongs to the response that has begun, and continues its numbers', () => {
    const delta = 'She said "sequence_number": 99.'
    const last = Buffer.concat([
      eventOf({ type: 'response.output_text.delta', sequence_number: 41, delta: 'a' }),
      eventOf({ type: 'response.output_text.delta', sequence_number: 42, delta }),
    ])
    const sent = { begun: RESPONSES_ERRORS.readBegun?.(first) ?? null, last }
    expect(dataOf(RESPONSES_ERRORS.errorEvent(BODY, sent))).toMatchObject([
      { type: 'error', sequence_number: 43 },
      {
        ...{ type: 'response.failed', sequence_number: 44 },
        response: { id: 'resp_7', created_at: 9, model: 'm', status: 'failed' },
      },
    ])
  })

  it('keeps nothing of the first event but the identity of the response', () => {
    const tools = Array.from({ length: 100 }, () => ({ name: 'a tool', parameters: begun }))
    const { status: _, ...identity } = begun
    const long = eventOf({ type: 'response.created', response: { tools, ...begun } })
    expect(RESPONSES_ERRORS.readBegun?.(long)).toEqual(identity)
  })

  it.each([
    ['no event was sent', null],
    ['the first event has no response', eventOf({})],
    ['the response has no id', eventOf({ response: { model: 'm' } })],
    ['the first event is no JSON', Buffer.from('data: {\n\n')],
  ])('has an id of its own if %s', (_name, bytes) => {
    const sent = bytes && { begun: RESPONSES_ERRORS.readBegun?.(bytes) ?? null, last: bytes }
    const events = dataOf(RESPONSES_ERRORS.errorEvent(BODY, sent))
    expect(events.at(-1)).toMatchObject({
      response: { id: expect.stringMatching(/^resp_\w{32}$/) },
    })
    const [error = 0, failed = 0] = events.map((one) => Number(one.sequence_number))
    expect(failed).toBe(error + 1)
  })
})

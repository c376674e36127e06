import { describe, expect, it } from 'vitest'
import { RESPONSES_ERRORS } from '#relay/dialects/openai-responses/error-events.ts'

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
    expect(dataOf(RESPONSES_ERRORS.errorEvent(BODY, { first, last }))).toMatchObject([
      { type: 'error', sequence_number: 43 },
      {
        ...{ type: 'response.failed', sequence_number: 44 },
        response: { id: 'resp_7', created_at: 9, model: 'm', status: 'failed' },
      },
    ])
  })

  it.each([
    ['no event was sent', null],
    ['the first event has no response', { first: eventOf({}), last: eventOf({}) }],
    ['the first event is no JSON', { first: Buffer.from('data: {\n\n'), last: first }],
  ])('has an id of its own if %s', (_name, sent) => {
    const events = dataOf(RESPONSES_ERRORS.errorEvent(BODY, sent))
    expect(events.at(-1)).toMatchObject({
      response: { id: expect.stringMatching(/^resp_\w{32}$/) },
    })
    const [error = 0, failed = 0] = events.map((one) => Number(one.sequence_number))
    expect(failed).toBe(error + 1)
  })
})

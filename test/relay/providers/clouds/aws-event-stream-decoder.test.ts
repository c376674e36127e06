import { describe, expect, it } from 'vitest'
import { anthropicErrorBody } from '#relay/providers/clouds/aws-errors-as-anthropic-errors.ts'
import { AwsEventStreamDecoder } from '#relay/providers/clouds/aws-event-stream-decoder.ts'
import { awsChunk, awsException, awsFrame } from '#test/relay/support/aws-event-stream.ts'

const DELTA = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: '漢字 \u2028 "quoted"\n' },
}
const EVENTS = [
  { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 7 } } },
  DELTA,
  { type: 'message_stop' },
]
const BYTES = Buffer.concat(EVENTS.map(awsChunk))
const TEXT = EVENTS.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(
  '',
)

function decoded(...chunks: readonly Buffer[]) {
  const decoder = new AwsEventStreamDecoder()
  const text = Buffer.concat(chunks.map((chunk) => decoder.push(chunk))).toString('utf8')
  return { text, fault: decoder.fault }
}

describe('a binary stream of AWS', () => {
  it('becomes the server-sent events of Anthropic’s API, split at every byte', () => {
    for (let at = 0; at <= BYTES.length; at += 1) {
      expect(decoded(BYTES.subarray(0, at), BYTES.subarray(at))).toEqual({
        text: TEXT,
        fault: null,
      })
    }
    const single = Array.from(BYTES, (byte) => Buffer.from([byte]))
    expect(decoded(...single)).toEqual({ text: TEXT, fault: null })
  })

  it('delivers an event as soon as its frame is complete', () => {
    const decoder = new AwsEventStreamDecoder()
    const first = awsChunk(DELTA)
    expect(decoder.push(first.subarray(0, -1)).length).toBe(0)
    expect(decoder.push(first.subarray(-1)).length).toBeGreaterThan(0)
  })

  it('is cut at a frame with any damaged byte', () => {
    const frame = awsChunk(DELTA)
    for (let at = 0; at < frame.length; at += 1) {
      const damaged = Buffer.from(frame)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      const { text, fault } = decoded(awsChunk(EVENTS[0] ?? {}), damaged, BYTES)
      expect(text.startsWith('event: message_start')).toBe(true)
      expect(text).not.toContain('content_block_delta')
      expect(fault).toBe('cut')
    }
  })

  it('is refused at a frame that is longer than an event may be', () => {
    const long = { ...DELTA, delta: { type: 'text_delta', text: 'x'.repeat(1_200_000) } }
    const { text, fault } = decoded(awsChunk(long))
    expect({ text, fault }).toEqual({ text: '', fault: 'too-large' })
  })

  it('with a line break between JSON tokens stays one event', () => {
    const { text } = decoded(awsChunk('{\n"type": "ping"\r\n}\n'))
    expect(text).toBe('event: ping\ndata: {\ndata: "type": "ping"\ndata: }\n\n')
  })

  it('can’t forge an event by the name of its type', () => {
    const { text, fault } = decoded(awsChunk({ type: 'ping\n\nevent: message_stop' }))
    expect({ text, fault }).toEqual({ text: '', fault: 'cut' })
    expect(decoded(awsChunk('no JSON')).fault).toBe('cut')
    expect(decoded(awsChunk('null')).fault).toBe('cut')
  })

  it('passes over frames of other types', () => {
    const other = awsFrame({ ':message-type': 'event', ':event-type': 'initial-response' })
    expect(decoded(other, BYTES)).toEqual({ text: TEXT, fault: null })
  })

  it.each([
    ['throttlingException', 'rate_limit_error'],
    ['modelStreamErrorException', 'api_error'],
    ['internalServerException', 'api_error'],
    ['validationException', 'invalid_request_error'],
    ['modelTimeoutException', 'timeout_error'],
    ['serviceUnavailableException', 'overloaded_error'],
  ])('ends with an error event for %s', (name, type) => {
    const { text } = decoded(awsException(name, 'Slow\ndown'))
    const [line = '', data = ''] = text.split('\n')
    expect(line).toBe('event: error')
    expect(JSON.parse(data.slice('data: '.length))).toEqual({
      type: 'error',
      error: { type, code: name, message: 'Slow\ndown' },
    })
  })

  it('ends with an error event for an error without a payload', () => {
    const headers = { ':message-type': 'error', ':error-code': '500', ':error-message': 'Broken' }
    expect(decoded(awsFrame(headers)).text).toContain('"code":"Exception","message":"Broken"')
  })
})

describe('an error of AWS', () => {
  const errorOf = (body: string, header?: unknown): unknown =>
    JSON.parse(anthropicErrorBody(Buffer.from(body), header).toString('utf8'))

  it('gets Anthropic’s format, with the name of the exception as its code', () => {
    const header = 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/'
    expect(errorOf('{"message":"Too many requests"}', header)).toEqual({
      type: 'error',
      error: {
        type: 'rate_limit_error',
        code: 'ThrottlingException',
        message: 'Too many requests',
      },
    })
    expect(errorOf('{"Message":"No access"}', 'AccessDeniedException')).toMatchObject({
      error: { type: 'permission_error', message: 'No access' },
    })
    expect(errorOf('{"message":7}', ['a', 'b'])).toMatchObject({ error: { message: '' } })
  })

  it('that Anthropic’s server wrote is unchanged', () => {
    const own = '{"type":"error","error":{"type":"invalid_request_error","message":"no"}}'
    expect(anthropicErrorBody(Buffer.from(own), 'ValidationException').toString()).toBe(own)
    expect(anthropicErrorBody(Buffer.from('<html>'), undefined).toString()).toBe('<html>')
  })
})

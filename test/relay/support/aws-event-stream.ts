import { EventStreamCodec } from '@smithy/core/event-streams'

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
)

const frameOf = (headers: Readonly<Record<string, string>>, body: object): Buffer =>
  Buffer.from(
    codec.encode({
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }]),
      ),
      body: Buffer.from(JSON.stringify(body)),
    }),
  )

/** A frame of Bedrock with one event of Anthropic's API, padded as Bedrock pads it. */
export const awsChunk = (event: object | string): Buffer => {
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  return frameOf(
    {
      ':event-type': 'chunk',
      ':content-type': 'application/json',
      ':message-type': 'event',
    },
    { bytes: Buffer.from(text).toString('base64'), p: 'abcdefghij' },
  )
}

/** A frame that ends the stream with an exception, such as `throttlingException`. */
export const awsException = (name: string, message: string): Buffer =>
  frameOf(
    {
      ':exception-type': name,
      ':content-type': 'application/json',
      ':message-type': 'exception',
    },
    { message },
  )

/** A frame with another type than those of the API. */
export const awsFrame = (headers: Readonly<Record<string, string>>): Buffer => frameOf(headers, {})

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { OPENAI_ERRORS } from '#relay/dialects/openai-chat/error-format.ts'
import type { Exchange } from '#relay/pipeline/http-exchange.ts'
import { endStream, writeEvents } from '#relay/pipeline/write-streamed-response.ts'

type Stream = readonly (string | number)[]

const streams = new Map<string, Stream>([
  ['/short', ['data: a\n\n', 'data: b\n\n']],
  ['/characters', ['data: 漢字 é \u{1f600}\n\n', 'data: ß\n\n']],
  ['/long', ['data: 1\n\n', 16_384, 16_385, 300_000, 'data: 2\n\n']],
])
/** A number stands for an event of that many bytes. */
const bytesOf = (event: string | number): Buffer =>
  typeof event === 'string' ? Buffer.from(event) : Buffer.alloc(event, 'x')
const integerOf = (stream: Stream): string => Buffer.concat(stream.map(bytesOf)).toString()

const exchangeOf = (incoming: IncomingMessage, response: ServerResponse) =>
  ({
    ...{ request: incoming, response, call: 'id', jsonArray: null },
    errors: OPENAI_ERRORS,
  }) as Partial<Exchange> as Exchange

const server = createServer((incoming, response) => {
  const exchange = exchangeOf(incoming, response)
  const stream = streams.get(incoming.url ?? '')
  if (stream === undefined) return endStream(exchange, incoming.url === '/only-end' ? 'end' : '')
  for (const event of stream) writeEvents(exchange, bytesOf(event))
  endStream(exchange, 'data: [DONE]\n\n')
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
afterAll(() => server.close())

async function get(path: string) {
  const [response] = (await once(request({ port, path }).end(), 'response')) as [IncomingMessage]
  return { headers: response.headers, body: await text(response) }
}

async function rawGet(path: string, version: '1.0' | '1.1'): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET ${path} HTTP/${version}\r\nHost: a\r\nConnection: close\r\n\r\n`)
  return await text(socket)
}

describe('a response that is an event stream', () => {
  it.each([...streams])('contains every byte of %s', async (path, stream) => {
    const { headers, body } = await get(path)
    expect(body).toBe(`${integerOf(stream)}data: [DONE]\n\n`)
    expect(headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(headers['transfer-encoding']).toBe('chunked')
  })

  it('is sent in chunks whose sizes count bytes', async () => {
    const raw = await rawGet('/characters', '1.1')
    expect(raw.slice(raw.indexOf('\r\n\r\n') + 4)).toBe(
      [
        ...['16', 'data: 漢字 é \u{1f600}\n\n', 'a', 'data: ß\n\n'],
        ...['e', 'data: [DONE]\n\n', '0', '', ''],
      ].join('\r\n'),
    )
  })

  it('has no chunks for a caller of HTTP 1.0', async () => {
    const raw = await rawGet('/short', '1.0')
    expect(raw).not.toContain('Transfer-Encoding')
    expect(raw.slice(raw.indexOf('\r\n\r\n') + 4)).toBe('data: a\n\ndata: b\n\ndata: [DONE]\n\n')
  })

  it('may consist of its end', async () => {
    expect((await get('/only-end')).body).toBe('end')
    expect((await get('/nothing')).body).toBe('')
  })

  it('leaves the connection open for the next call', async () => {
    const socket = connect(port, '127.0.0.1')
    const line = (path: string, rest = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${rest}\r\n`
    socket.write(line('/long') + line('/nothing') + line('/short', 'Connection: close\r\n'))
    const raw = await text(socket)
    expect(raw.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3)
    expect(raw.endsWith('\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n')).toBe(true)
  })
})

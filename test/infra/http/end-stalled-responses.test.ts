import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { endIfStalled } from '#infra/http/end-stalled-responses.ts'

const STALL_MS = 300
/** More than the buffers of both sockets can hold. */
const LARGE = Buffer.alloc(24 * 1024 * 1024, 'a')

/** A server that sends `body`, and a client that has requested it and reads nothing yet. */
async function requested(body: Buffer): Promise<{ client: Socket; response: ServerResponse }> {
  const { promise, resolve } = Promise.withResolvers<ServerResponse>()
  const server = createServer((_request, response) => {
    endIfStalled(response, STALL_MS)
    response.setHeader('content-length', body.length)
    response.end(body)
    resolve(response)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    client.destroy()
    server.close()
  })
  client.on('error', () => {})
  client.pause()
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  return { client, response: await promise }
}

it('a client that reads nothing of a complete answer is disconnected', async () => {
  const { response } = await requested(LARGE)
  expect(response.writableEnded).toBe(true)
  await expect.poll(() => response.destroyed, { timeout: 5_000 }).toBe(true)
  expect(response.writableFinished).toBe(false)
})

it('a client that reads slowly gets the complete answer', async () => {
  const { client, response } = await requested(LARGE)
  let received = 0
  client.on('data', async ({ length }) => {
    received += length
    client.pause()
    await pause(1)
    client.resume()
  })
  client.resume()
  await expect.poll(() => received).toBeGreaterThan(LARGE.length)
  expect(response.writableFinished).toBe(true)
})

it('a connection stays open after an answer that was sent at once', async () => {
  const { client, response } = await requested(Buffer.from('a'))
  await pause(3 * STALL_MS)
  expect([response.writableFinished, client.destroyed, client.readyState]).toEqual([
    ...[true, false, 'open'],
  ])
})

import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { acceptConnection, createWorkerListener } from '#infra/workers/connection-dispatcher.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** A connection as a worker gets it from the primary process, with its client's end. */
async function passedConnection(): Promise<{ readonly client: Socket; readonly passed: Socket }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[passed]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [
    [Socket],
    unknown,
  ]
  closing.push(() => server.close(), client.destroy.bind(client), passed.destroy.bind(passed))
  return { client, passed }
}

function workerListener() {
  const served: Socket[] = []
  const server = createHttpServer((_request, response) => response.end('served'))
  server.on('connection', (socket) => served.push(socket))
  return { listener: createWorkerListener(server, () => {}), served }
}

describe('a connection that is passed to a worker', () => {
  it('is served once it is confirmed', async () => {
    const { client, passed } = await passedConnection()
    const { listener, served } = workerListener()
    const confirmations: (() => void)[] = []
    acceptConnection(listener, passed, (done) => confirmations.push(done))
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    expect(served).toEqual([])
    for (const done of confirmations) done()
    const [answer] = (await once(client, 'data')) as [Buffer]
    expect(String(answer)).toContain('served')
  })

  it('may be reset before it is confirmed, without ending the worker or its drain', async () => {
    const { client, passed } = await passedConnection()
    const { listener, served } = workerListener()
    const confirmations: (() => void)[] = []
    acceptConnection(listener, passed, (done) => confirmations.push(done))
    const closed = new Promise((resolve) => passed.once('close', resolve))
    client.resetAndDestroy()
    await closed
    for (const done of confirmations) done()
    expect(served).toEqual([])
    await listener.close()
  })
})

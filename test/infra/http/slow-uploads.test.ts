import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createSlowUploads } from '#infra/http/let-slow-uploads-continue.ts'

const PIECE = 1_000
/** Long enough for two checks of the progress. */
const PIECES = 100
/** An upload that would not end within the test. */
const ENDLESS = 1_000_000
let server: Server
let bytes = 0
let isDone = false

afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** A server whose timeout of requests is much shorter than an upload. */
async function serverWith({ isNoted = true, uploadsMax = 8, totalMs = 60_000 } = {}) {
  const slow = createSlowUploads({ checkMs: 500, bytesPerSecondMin: 5_000, totalMs, uploadsMax })
  bytes = 0
  isDone = false
  server = createServer(
    { requestTimeout: 200, headersTimeout: 200, connectionsCheckingInterval: 20 },
    (request, response) => {
      if (isNoted) slow.note(request)
      request.on('error', () => {})
      request.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      request.on('end', () => {
        isDone = true
        response.end('ok')
      })
    },
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
    if (!isTimeout || !slow.mayContinue(socket as never)) socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** Sends a body piece by piece until it is complete or the connection is closed. */
async function upload(port: number, pieces: number, everyMs: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  let isClosed = false
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk.toString()
  })
  socket.on('close', () => {
    isClosed = true
  })
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${pieces * PIECE}\r\n\r\n`)
  for (let sent = 0; sent < pieces && !isClosed; sent += 1) {
    socket.write('x'.repeat(PIECE))
    await delay(everyMs)
  }
  await expect.poll(() => isClosed || text.includes('ok'), { timeout: 5_000 }).toBe(true)
  socket.destroy()
  return text
}

describe('an upload that takes longer than the timeout of requests', () => {
  it('arrives as long as it keeps moving', async () => {
    expect(await upload(await serverWith(), PIECES, 15)).toContain('200 OK')
    expect(bytes).toBe(PIECES * PIECE)
  })

  it.each([
    ['it moves too slowly', 400, {}],
    ['it is no upload for the relay', 15, { isNoted: false }],
    ['it takes too long in total', 15, { totalMs: 150 }],
    ['the process has too many', 15, { uploadsMax: 0 }],
  ])('is closed if %s', async (_name, everyMs, options) => {
    expect(await upload(await serverWith(options), ENDLESS, everyMs)).toBe('')
    expect(isDone).toBe(false)
  })
})

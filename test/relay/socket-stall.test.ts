import { connect, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(() => relayRig({ deadlines: { uploadStallMs: 300 } }))

/** Opens a websocket by hand, so that frames can be sent in parts. */
async function opened(): Promise<{ readonly socket: Socket; readonly isClosed: () => boolean }> {
  const { hostname, port } = new URL(rig.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => {
    socket.destroy()
  })
  let isClosed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    isClosed = true
  })
  const lines = [
    ...['GET /v1/responses HTTP/1.1', `Host: ${hostname}`, `Authorization: Bearer sk-${KEY}`],
    ...['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'],
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]
  const answered = new Promise((resolve) => socket.once('data', resolve))
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  expect(String(await answered)).toContain('101')
  return { socket, isClosed: () => isClosed }
}

/** The beginning of a masked text frame of 100 bytes, of which only some are sent. */
const BEGUN = Buffer.from([0x81, 0x80 | 100, 0, 0, 0, 0, ...Buffer.from('{"type":')])
/** A complete text frame with a notification that needs no answer. */
const TEXT = Buffer.from('{"type":"response.processed"}')
const WHOLE = Buffer.from([0x81, 0x80 | TEXT.length, 0, 0, 0, 0, ...TEXT])
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0])

const pause = (ms: number) => new Promise((resume) => setTimeout(resume, ms))

it('a message that never ends is cut after the deadline', async () => {
  const { socket, isClosed } = await opened()
  socket.write(BEGUN)
  await expect.poll(isClosed).toBe(true)
})

it('a message that arrives byte by byte is not cut', async () => {
  const { socket, isClosed } = await opened()
  socket.write(BEGUN)
  for (let turn = 0; turn < 6; turn += 1) {
    await pause(100)
    socket.write(' ')
  }
  expect(isClosed()).toBe(false)
})

it('a socket without a message stays open, also after complete messages and pings', async () => {
  const { socket, isClosed } = await opened()
  for (const frame of [WHOLE, PING, WHOLE, PING]) {
    socket.write(frame)
    await pause(20)
  }
  socket.write(Buffer.concat([WHOLE, PING]))
  await pause(900)
  expect(isClosed()).toBe(false)
})

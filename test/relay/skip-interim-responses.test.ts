import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { chat, onlyEnd, type RelayRig, relayRig } from './support/relay-rig.ts'

const BODY = JSON.stringify({
  choices: [{ index: 0, message: { content: 'HTTP/1.1 100 is a text here' } }],
  usage: { prompt_tokens: 3, completion_tokens: 5 },
})
const ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
  `content-length: ${BODY.length}\r\n\r\n${BODY}`
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n'

let rig: RelayRig
let pieces: readonly string[]
const sockets = new Set<Socket>()
const provider = createServer((socket) => {
  sockets.add(socket)
  socket.on('error', () => {})
  socket.on('data', async () => {
    for (const piece of pieces) {
      socket.write(piece)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
})

beforeEach(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  rig = await relayRig()
  const baseUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  await rig.addChannel(2, { baseUrl, models: ['raw'] })
  await rig.setOption('ModelRatio', { raw: 1 })
})
afterEach(async () => {
  await rig.close()
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => provider.close(resolve))
})

it.each([
  ['100', [CONTINUE, ANSWER]],
  ['100 in the same packet', [CONTINUE + ANSWER]],
  ['100 in pieces', ['HTTP/1', '.1 100 Cont', 'inue\r\n', '\r\n', ANSWER]],
  [
    '100 again and again, with a header',
    [CONTINUE.replace('\r\n', '\r\na: b\r\n'), CONTINUE, ANSWER],
  ],
  ['102 and 103', [PROCESSING, HINTS, ANSWER]],
  ['100, 103 and 100', [CONTINUE, HINTS, CONTINUE, ANSWER]],
])('the relay skips an unrequested %s, on a kept-alive connection too', async (_name, sent) => {
  pieces = sent
  for (let call = 0; call < 2; call += 1) {
    const { status, text } = await chat(rig, { model: 'raw' })
    expect(status).toBe(200)
    expect(text).toContain('100 is a text here')
  }
  expect(rig.relay.inFlight()).toBe(0)
})

it('an unrequested 101 is a provider error, at no cost', async () => {
  pieces = ['HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n']
  expect((await chat(rig, { model: 'raw' })).status).toBe(502)
  expect((await onlyEnd(rig)).type).toBe('CallReleased')
})

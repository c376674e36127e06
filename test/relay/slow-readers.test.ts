import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'

const rig = startedForEach(() => relayRig({ deadlines: { writeStallMs: 700, progressMs: 200 } }))

/** Sends a call and then reads nothing at all. */
function deafReader(): Socket {
  const socket = connect(Number(new URL(rig.url).port), '127.0.0.1')
  const messages = [{ role: 'user', content: 'x' }]
  const body = JSON.stringify({ model: 'sim-small', stream: true, messages })
  socket.on('error', () => {})
  socket.pause()
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-${KEY}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}

it('10 callers that stop reading a stream cost little memory and pay for their part', async () => {
  const readers = 10
  for (let reader = 0; reader < readers; reader += 1) {
    rig.provider.script.push({ kind: 'large', chunks: 1_000_000 })
  }
  const before = process.memoryUsage().external
  const sockets = Array.from({ length: readers }, deafReader)
  let most = before
  await expect
    .poll(
      async () => {
        const events = await rig.callEvents()
        const settled = events.filter(({ type }) => type === 'CallSettled').length
        // Counting what they got loads a vocabulary, which is not what is measured here.
        if (settled === 0) most = Math.max(most, process.memoryUsage().external)
        return settled
      },
      // The kernel accepts more of each stream now and then, at growing intervals.
      { timeout: 90_000, interval: 50 },
    )
    .toBe(readers)
  // Buffers alone: the provider's own strings are in this process too.
  expect((most - before) / 2 ** 20).toBeLessThan(60)
  const settled = (await rig.callEvents()).filter(({ type }) => type === 'CallSettled')
  for (const { data } of settled) {
    expect(data).toMatchObject({ end: 'client-gone' })
    expect('usage' in data && data.usage.output).toBeGreaterThan(1_000)
  }
  expect(rig.relay.inFlight()).toBe(0)
  for (const socket of sockets) socket.destroy()
})

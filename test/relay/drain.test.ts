import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KEY, type RelayRig, relayRig } from './support/relay-rig.ts'

let rig: RelayRig
beforeEach(async () => {
  rig = await relayRig()
})
afterEach(() => rig.close())

const BODY = JSON.stringify({
  model: 'sim-small',
  messages: [{ role: 'user', content: 'hello' }],
})

/** A call whose body was sent by half, the `nth` that is under way. */
async function halfSent(nth = 1): Promise<ClientRequest> {
  const upload = request(`${rig.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer sk-${KEY}`,
      'content-type': 'application/json',
    },
  })
  upload.on('error', () => {})
  upload.write(BODY.slice(0, 20))
  await expect.poll(() => rig.relay.inFlight()).toBe(nth)
  return upload
}

async function answerTo(
  upload: ClientRequest,
): Promise<{ status: number | undefined; body: string }> {
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>
  upload.end(BODY.slice(20))
  const [answer] = await answered
  return { status: answer.statusCode, body: await text(answer) }
}

it('a drain waits for a call that is still being uploaded, and the call is answered', async () => {
  const upload = await halfSent()
  let isDrained = false
  const drained = rig.relay.drain(20_000).then(() => {
    isDrained = true
  })
  // This request is answered meanwhile; a drain that did not wait would be over by now.
  expect((await fetch(`${rig.url}/v1/models`)).status).toBe(503)
  expect(isDrained).toBe(false)
  const { status, body } = await answerTo(upload)
  expect([status, JSON.parse(body).object]).toEqual([200, 'chat.completion'])
  await drained
  expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted', 'CallSettled'])
})

it('a drain ends a stalled upload and keeps one that makes progress', async () => {
  await rig.close()
  rig = await relayRig({ deadlines: { uploadStallMs: 1_000 } })
  const moving = await halfSent()
  const stuck = await halfSent(2)
  const drained = rig.relay.drain(600_000)
  const [refused] = (await withDrops(moving, once(stuck, 'response'))) as [IncomingMessage]
  expect([refused.statusCode, refused.headers.connection]).toEqual([503, 'close'])
  expect(JSON.parse(await text(refused)).error.code).toBe('draining')
  await expect.poll(() => rig.relay.inFlight()).toBe(1)
  expect((await answerTo(moving)).status).toBe(200)
  await drained
})

/** Sends a byte from time to time until it has happened. JSON allows any number of spaces. */
async function withDrops<T>(upload: ClientRequest, happening: Promise<T>): Promise<T> {
  const dropping = setInterval(() => upload.write(' '), 50)
  return await happening.finally(() => clearInterval(dropping))
}

it('a call that is admitted after the grace period is released, too', async () => {
  rig.provider.script.push({ kind: 'stall', at: 'before-headers' })
  const upload = await halfSent()
  const drained = rig.relay.drain(0)
  const { status } = await answerTo(upload)
  expect(status).toBe(503)
  await drained
  expect(rig.relay.inFlight()).toBe(0)
  expect((await rig.callEvents()).map(({ type }) => type)).toEqual(['CallAdmitted', 'CallReleased'])
})

describe('an answer whose caller left before the drain began', () => {
  /** A plain call that is closed once its provider has it. */
  const leave = async (): Promise<void> => {
    const call = await halfSent()
    call.end(BODY.slice(20))
    await expect.poll(() => rig.provider.journal.count).toBe(1)
    call.destroy()
    await new Promise((resolve) => call.once('close', resolve))
  }

  it('the relay reads the answer to its end and bills its usage', async () => {
    await rig.close()
    rig = await relayRig({}, {}, undefined, { firstByteMs: 1_500 })
    await leave()
    await rig.relay.drain(20_000)
    expect(rig.relay.inFlight()).toBe(0)
    expect(await rig.callEvents()).toMatchObject([
      { type: 'CallAdmitted' },
      {
        type: 'CallSettled',
        data: { end: 'client-gone', usageSource: 'upstream', usage: { output: 20 } },
      },
    ])
    expect(rig.provider.journal.entries[0]?.outcome).toBe('answered')
  })

  it('the relay bills the input if the grace period ends before the answer comes', async () => {
    rig.provider.script.push({ kind: 'stall', at: 'before-headers' })
    await leave()
    await rig.relay.drain(500)
    expect(rig.relay.inFlight()).toBe(0)
    const [, end] = await rig.callEvents()
    expect(end).toMatchObject({
      type: 'CallSettled',
      data: { end: 'client-gone', usageSource: 'partial', usage: { output: 0 } },
    })
    expect(await rig.balance()).toBeLessThan(1_000_000_000n)
  })
})

it('a second drain shortens the first, and a stuck upload does not delay it', async () => {
  const upload = await halfSent()
  const first = rig.relay.drain(600_000)
  await rig.relay.drain(0)
  await first
  upload.destroy()
  await expect.poll(() => rig.relay.inFlight()).toBe(0)
})

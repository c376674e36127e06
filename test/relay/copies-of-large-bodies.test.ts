import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { withAllowedCache } from '#relay/dialects/detect-and-shorten-one-hour-caching.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import { BODIES_BYTES_MAX, BODY_BYTES_MAX, BodyMemory } from '#relay/limits/body-memory.ts'
import { CopiesOfBody } from '#relay/pipeline/memory-of-body-copies.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig, USER } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MIB = 1024 * 1024
const MOST = 64 * MIB
const MODEL = 'claude-sonnet-5-5'
const MESSAGES = '/v1/messages'
const CHAT = '/v1/chat/completions'
let bodies: BodyMemory
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(() => {
  bodies = new BodyMemory(MOST)
  return relayRig({ bodies })
})

const ANSWER = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn' },
  content: [{ type: 'text', text: 'Hello.' }],
  usage: { input_tokens: 10, output_tokens: 5 },
}
const user = { role: 'user', content: 'x '.repeat(MIB / 2) }
const thinking = { type: 'thinking', thinking: 'Hm', signature: 'openai:gAAA' }
const thought = { role: 'assistant', content: [thinking, { type: 'text', text: 'Hm' }] }

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 14, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 0.01 })
  await rig.setOption('CompletionRatio', { [MODEL]: 1 })
})

const send = (path: string, messages: readonly object[], key = KEY) =>
  fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, max_tokens: 64, messages }),
  })

describe('the memory of a large body', () => {
  it.each([
    ['a converted request', CHAT, [user]],
    ['a request without the thinking of another provider', MESSAGES, [user, thought, user]],
  ])('includes the copies of %s until the call ends', async (_name, path, messages) => {
    const gate = Promise.withResolvers<void>()
    provider.answers.set(`POST ${MESSAGES}`, { body: ANSWER, until: gate.promise })
    const answer = send(path, messages)
    await expect.poll(() => provider.requests.length).toBe(1)
    const length = JSON.stringify(messages).length
    expect(bodies.taken.bodies).toBeGreaterThan(2 * length)
    gate.resolve()
    expect((await answer).status).toBe(200)
    await expect.poll(() => bodies.taken.bodies).toBe(0)
  })

  it.each([
    ['that needs a conversion is refused', CHAT, [user], 1.5 * MIB],
    ['is refused at its only channel', MESSAGES, [user, thought, user], 3.5 * MIB],
  ])('is limited, so that a call %s', async (_name, path, messages, left) => {
    bodies.take(MOST - left)
    const answer = await send(path, messages)
    const text = await answer.text()
    expect([answer.status, text]).toEqual([503, expect.stringContaining('at its limit')])
    expect(provider.requests).toEqual([])
    const ends = (await rig.callEvents()).map(({ type }) => type)
    expect(ends).not.toContain('CallSettled')
    await expect.poll(() => bodies.taken.bodies).toBe(MOST - left)
    bodies.giveBack(MOST - left)
    provider.answers.set(`POST ${MESSAGES}`, { body: ANSWER })
    expect((await send(path, messages)).status).toBe(200)
  })

  it('is limited for each user, who may use three quarters of all for bodies and copies', () => {
    const text = Buffer.from(JSON.stringify({ messages: [user] }))
    const request = { body: text } as ChatRequest
    const owner = { userId: USER, bytesMax: BODIES_BYTES_MAX / 2 }
    const memory = new BodyMemory()
    const most = (BODIES_BYTES_MAX * 3) / 4
    const used = most - Math.round(0.5 * text.length)
    memory.reserve({ ...owner, bytesMax: most }, used)
    const copies = new CopiesOfBody(memory, owner)
    expect(copies.count(request, Buffer.from(text))).toMatchObject({ code: 'too_many_concurrent' })
    const ofOther = new CopiesOfBody(memory, { ...owner, userId: 8 })
    expect(ofOther.count(request, Buffer.from(text))).toBe(null)
    memory.release(owner, used)
    expect(copies.count(request, Buffer.from(text))).toBe(null)
    copies.release()
    ofOther.release()
    expect(memory.taken.bodies).toBe(0)
    expect(memory.reserve({ ...owner, bytesMax: most }, most)).toBe(true)
  })

  it('is not asked for again at further channels after it was refused', async () => {
    for (const channelId of [3, 4, 5]) {
      await rig.addChannel(channelId, { type: 14, baseUrl: provider.url, models: [MODEL] })
    }
    const count = vi.spyOn(CopiesOfBody.prototype, 'count')
    bodies.take(MOST - 3.5 * MIB)
    expect((await send(MESSAGES, [user, thought, user])).status).toBe(503)
    expect(count.mock.results.filter(({ value }) => value !== null)).toHaveLength(1)
  })

  it('includes the copy with shorter lifetimes of caches', () => {
    const text = JSON.stringify({ cache_control: { ttl: '1h' }, messages: [user] })
    const request = { body: Buffer.from(text) } as ChatRequest
    const shortened = withAllowedCache(request, new Set()).request.body
    const copies = new CopiesOfBody(bodies, { userId: USER, bytesMax: MOST })
    expect(copies.count(request, shortened)).toBe(null)
    expect(bodies.taken.bodies).toBe(text.length)
    expect(copies.count(request, Buffer.from(text))).toBe(null)
    expect(bodies.taken.bodies).toBe(2 * text.length)
    bodies.take(MOST - bodies.taken.bodies)
    expect(copies.count(request, Buffer.alloc(2 * text.length))?.code).toBe('overloaded')
    expect(withAllowedCache(request, new Set()).request.body).not.toBe(shortened)
    copies.release()
    expect(bodies.taken.bodies).toBe(MOST - 2 * text.length)
  })
  it('may be the largest one with a copy for a user without balance', () => {
    const share = { userId: USER, bytesMax: BODY_BYTES_MAX }
    const memory = new BodyMemory()
    expect(memory.reserve(share, BODY_BYTES_MAX)).toBe(true)
    const copies = new CopiesOfBody(memory, share)
    const request = { body: Buffer.alloc(BODY_BYTES_MAX) } as ChatRequest
    expect(copies.count(request, Buffer.alloc(BODY_BYTES_MAX))).toBe(null)
  })
})

import { describe, expect, it } from 'vitest'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { chat, errorOf, KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const rig = startedForEach(relayRig)

const SLOW = { kind: 'slow', msPerChunk: 300 } as const
const stream = () => chat(rig, { stream: true, max_tokens: 5 })
const usedChannels = async () =>
  (await rig.callEvents()).flatMap(({ type, data }) =>
    type === 'CallSettled' && 'channelId' in data ? [data.channelId] : [],
  )

describe('a channel with limits', () => {
  it('calls go to the next channel while this one is at its concurrency limit', async () => {
    await rig.addChannel(2, { priority: 9, maxConcurrency: 1 })
    rig.provider.script.push(SLOW)
    const calls = await Promise.all([stream(), stream(), stream()])
    expect(calls.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await usedChannels()).sort()).toEqual([1, 1, 2])
    expect((await stream()).status).toBe(200)
    expect((await usedChannels()).at(-1)).toBe(2)
  })

  it('a channel with a limit on calls per minute gets exactly that many', async () => {
    await rig.addChannel(2, { priority: 9, maxRpm: 2 })
    for (let n = 0; n < 4; n += 1) expect((await chat(rig)).status).toBe(200)
    expect(await usedChannels()).toEqual([2, 2, 1, 1])
  })

  it('the relay answers 429 with Retry-After if all channels are full, at no charge', async () => {
    await rig.append('channels', { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
    await rig.addChannel(2, { maxRpm: 1 })
    expect((await chat(rig)).status).toBe(200)
    const full = await chat(rig)
    expect([full.status, errorOf(full).code]).toEqual([429, 'channels_busy'])
    expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await rig.callEvents()).at(-1)).toMatchObject({
      type: 'CallReleased',
      data: { errorCode: 'channels_busy', statusCode: 429, attempts: [] },
    })
  })
})

describe('a full channel is the same error as for a call', () => {
  const provider = startedForEach(scriptedProvider)
  const messages = [{ role: 'user', content: 'Hello' }]
  const line = {
    ...{ custom_id: 'a', method: 'POST', url: '/v1/chat/completions' },
    body: { model: 'lab-model', max_tokens: 9, messages },
  }
  const form = new FormData()
  form.append('purpose', 'batch')
  form.append('file', new Blob([`${JSON.stringify(line)}\n`]), 'a.jsonl')
  const requests = [{ custom_id: 'a', params: line.body }]

  it.each<[string, string, number, string, object]>([
    ['a file', '/v1/files', 1, 'lab-model', form],
    ['a batch', '/v1/messages/batches', 14, 'lab-model', { requests }],
    ['a video', '/v1/videos', 55, 'sora-2', { model: 'sora-2', prompt: 'x', seconds: '4' }],
  ])('for %s', async (_name, path, type, model, body) => {
    const id = { '/v1/videos': 'video_1', '/v1/files': 'file-1' }[path] ?? 'msgbatch_1'
    const ofBatch = { processing_status: 'in_progress' }
    provider.answers.set(`POST ${path}`, { body: { id, status: 'queued', ...ofBatch } })
    await rig.setOption('ModelRatio', { 'lab-model': 1 })
    await rig.addChannel(2, { type, models: [model], maxRpm: 1, baseUrl: provider.url })
    const send = async () => {
      const isForm = body instanceof FormData
      const json = { 'content-type': 'application/json' }
      const response = await fetch(`${rig.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${KEY}`, ...(isForm ? {} : json) },
        body: isForm ? body : JSON.stringify(body),
      })
      const { status, headers } = response
      return { status, retryAfter: Number(headers.get('retry-after')), text: await response.text() }
    }
    const sent = await send()
    expect(sent.status, sent.text).toBe(200)
    const full = await send()
    expect(full.status, full.text).toBe(429)
    expect(full.text).toContain(`Every channel for the model '${model}' is at its limit`)
    // The limit is that of a minute.
    expect(full.retryAfter).toBeGreaterThan(10)
  })
})

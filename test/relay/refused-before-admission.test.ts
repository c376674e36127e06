import { beforeEach, describe, expect, it } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { MODEL } from './clients/caller-formats.ts'
import { providerOfAllFormats } from './clients/provider-families.ts'
import { KEY, onlyEnd, relayRig } from './support/relay-rig.ts'

const provider = startedForEach(() => providerOfAllFormats())
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.setOption('ModelRatio', { [MODEL]: 1.25 })
})

const addChannel = (channelId: number, type: number) =>
  rig.addChannel(channelId, { type, baseUrl: provider.url, models: [MODEL] })

/** Sends a request, and returns the status and what the error says. */
async function refusal(path: string, body: object) {
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, max_tokens: 9, ...body }),
  })
  return { status: response.status, text: await response.text() }
}

async function expectNothingHappened(): Promise<void> {
  expect(await rig.callEvents()).toEqual([])
  expect(provider.requests).toEqual([])
}

const CHAT = '/v1/chat/completions'
const user = (...content: object[]) => [{ role: 'user', content }]

describe('a file of the shared account at the provider is refused', () => {
  const source = { type: 'file', file_id: 'file-1' }
  const tool = { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-1'] } }
  const uri = { fileUri: 'files/abc', mimeType: 'image/png' }

  it.each<[string, number, string, object, string]>([
    [
      'in a chat',
      1,
      CHAT,
      { messages: user({ type: 'file', file: { file_id: 'file-1' } }) },
      'messages[0].content[].file.file_id',
    ],
    [
      'in a response',
      1,
      '/v1/responses',
      { max_tokens: undefined, input: user({ type: 'input_image', file_id: 'file-1' }) },
      'input[0].content[].file_id',
    ],
    [
      'in a container',
      1,
      '/v1/responses',
      { max_tokens: undefined, input: 'x', tools: [tool] },
      'tools[0].container.file_ids',
    ],
    [
      'in a message',
      14,
      '/v1/messages',
      { messages: user({ type: 'document', source }) },
      'messages[0].content[].source.file_id',
    ],
    [
      'for a container of a message',
      14,
      '/v1/messages',
      { messages: user({ type: 'container_upload', file_id: 'file-1' }) },
      'messages[0].content[].file_id',
    ],
    [
      'in a content',
      24,
      `/v1beta/models/${MODEL}:generateContent`,
      { model: undefined, max_tokens: undefined, contents: [{ parts: [{ fileData: uri }] }] },
      'fileData.fileUri',
    ],
  ])('%s', async (_name, type, path, body, param) => {
    await addChannel(2, type)
    const { status, text } = await refusal(path, body)
    expect(status).toBe(400)
    expect(text).toContain(param)
    await expectNothingHappened()
  })

  it('also where requests are passed through', async () => {
    await addChannel(2, 1)
    await rig.setOption('global.pass_through_request_enabled', 'true')
    const body = { messages: user({ type: 'file', file: { file_id: 'file-1' } }) }
    expect((await refusal(CHAT, body)).status).toBe(400)
    await expectNothingHappened()
  })
})

describe('a request that no channel on offer can get after a conversion is refused', () => {
  const question = { messages: [{ role: 'user', content: 'Hi' }] }

  it.each<[string, string, object, string]>([
    ['for several answers', CHAT, { ...question, n: 2 }, 'not_convertible'],
    [
      'with content that is invalid in its own format',
      CHAT,
      { messages: user({ type: 'image_url', image_url: {} }) },
      'invalid_parameter',
    ],
    [
      'with content that the format lacks',
      CHAT,
      { messages: user({ type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } }) },
      'not_convertible',
    ],
    [
      'as a compaction',
      '/v1/responses/compact',
      { max_tokens: undefined, input: 'x' },
      'not_convertible',
    ],
    [
      'above 4 MiB',
      CHAT,
      { messages: [{ role: 'user', content: 'x'.repeat(4_300_000) }] },
      'request_too_large_to_convert',
    ],
  ])('%s', async (_name, path, body, code) => {
    await addChannel(2, 14)
    await addChannel(3, 24)
    const { status, text } = await refusal(path, body)
    expect([400, 413]).toContain(status)
    expect(text).toContain(code)
    await expectNothingHappened()
  })

  it('after its admission if too many channels are on offer, and the log says so', async () => {
    for (const channelId of [2, 3, 4, 5, 6]) await addChannel(channelId, 14)
    expect((await refusal(CHAT, { ...question, n: 2 })).status).toBe(400)
    expect(provider.requests).toEqual([])
    expect((await onlyEnd(rig)).data).toMatchObject({
      ...{ reason: 'not-sent', errorCode: 'not_convertible', statusCode: 400, attempts: [] },
    })
  })

  it('unless a channel has its format', async () => {
    await addChannel(2, 14)
    await addChannel(3, 8)
    expect((await refusal(CHAT, { ...question, n: 2 })).status).toBe(200)
    expect(provider.requests).toHaveLength(1)
  })

  it('unless it can be converted for another channel', async () => {
    await addChannel(2, 14)
    await addChannel(3, 24)
    const { status } = await refusal('/v1/responses', {
      ...{ max_tokens: undefined, store: false },
      input: 'Hi',
    })
    expect(status).toBe(200)
    expect(await rig.callEvents()).toHaveLength(2)
  })

  it('and a long one of a caller who can not pay is not converted', async () => {
    await addChannel(2, 14)
    await rig.addUser(8)
    await rig.addToken(9, 8, 'z'.repeat(48))
    const response = await fetch(`${rig.url}${CHAT}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer sk-${'z'.repeat(48)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: MODEL,
        messages: user({ type: 'image_url', image_url: {}, text: 'x'.repeat(100_000) }),
      }),
    })
    expect(response.status).not.toBe(400)
    expect(await response.text()).toContain('insufficient')
    expect(await rig.callEvents(8)).toEqual([])
  })
})

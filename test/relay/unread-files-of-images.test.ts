import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-2.5-flash-image'
const [IMAGES, CHATS] = ['/v1/images/generations', '/v1/chat/completions']
const PICTURE = 'https://a.example/1.png'
const SHA_256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const provider = startedForEach(scriptedProvider)
const rig = startedForEach(relayRig)

beforeEach(async () => {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [1] } })
  await rig.addChannel(2, { type: 24, baseUrl: provider.url, models: [MODEL] })
  await rig.setOption('ModelRatio', { [MODEL]: 0.15 })
  const inlineData = { mimeType: 'image/png', data: 'QUJD' }
  const candidates = [{ content: { parts: [{ inlineData }] }, finishReason: 'STOP' }]
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 1_290 }
  const path = `POST /v1beta/models/${MODEL}:generateContent`
  provider.answers.set(path, { body: { candidates, usageMetadata } })
})

async function post(path: string, body: object) {
  const messages = [{ role: 'user', content: 'a hat' }]
  const prompt = path === IMAGES ? { prompt: 'a hat' } : { messages }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, ...prompt, ...body }),
  })
  const { error } = (await response.json()) as { error?: { param?: string } }
  return [response.status, error?.param]
}

const user = (part: object) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a hat' }, part] }],
})
const video = { type: 'video_url', video_url: { url: PICTURE } }

describe('a request for an image', () => {
  it.each([
    [IMAGES, { extra_body: { image: PICTURE } }, 'extra_body'],
    [CHATS, { extra_body: { image: PICTURE } }, 'extra_body.image'],
    [CHATS, { extra_body: { 'a.b': { image: PICTURE } } }, 'extra_body.a.b'],
    [
      ...([CHATS, { extra_body: { google: { refs: ['data:image/png;base64,QUJD'] } } }] as const),
      'extra_body.google.refs',
    ],
    [CHATS, user(video), 'messages[0].content[1]'],
  ])('is refused by %s if a file is not sent: %j', async (path, body, param) => {
    expect(await post(path, body)).toEqual([400, param])
    expect(provider.requests).toEqual([])
  })

  it('is refused with a video in Gemini’s format that another format can’t express', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [MODEL] })
    const fileData = { mimeType: 'video/mp4', fileUri: 'https://a.example/1.mp4' }
    const contents = [{ role: 'user', parts: [{ text: 'a hat' }, { fileData }] }]
    const path = `/v1beta/models/${MODEL}:generateContent`
    expect((await post(path, { messages: undefined, contents }))[0]).toBe(400)
    expect(provider.requests).toEqual([])
  })

  it.each([
    [IMAGES, { metadata: { framework: 'https://langchain.com', image_ref: PICTURE } }],
    [IMAGES, { user: PICTURE, extra_headers: { 'X-Image-Source': PICTURE } }],
    [IMAGES, { image_request_id: SHA_256, output_file_id: 'abc', framework: PICTURE }],
    [CHATS, { metadata: { image_ref: PICTURE } }],
    [CHATS, { extra_body: { google: { safety: 'low' }, framework: PICTURE } }],
    [CHATS, user({ type: 'text', text: 'x', image_name: PICTURE.slice(8) })],
    [
      CHATS,
      {
        messages: [
          { role: 'user', content: 'a hat' },
          { role: 'assistant', content: [{ type: 'text', text: 'Here it is.' }, video] },
          { role: 'user', content: 'another one' },
        ],
      },
    ],
  ])('is sent by %s without members that contain no file: %j', async (path, body) => {
    expect(await post(path, body)).toEqual([200, undefined])
  })

  it('is searched quickly if its members have long names', async () => {
    const before = performance.now()
    const name = ' (audio/'.repeat(100_000)
    expect(await post(CHATS, { extra_body: { [name]: 1 } })).toEqual([200, undefined])
    expect(performance.now() - before).toBeLessThan(5_000)
  })

  it('is searched once, and its texts are not parsed', async () => {
    const parse = vi.spyOn(JSON, 'parse')
    const x = Array(50_000).fill('[')
    const json = JSON.stringify(x)
    expect(await post(IMAGES, { x })).toEqual([200, undefined])
    const parsed = parse.mock.calls.map(([text]) => text)
    expect(parsed.filter((text) => text === '[')).toEqual([])
    expect(parsed.filter((text) => text === json)).toHaveLength(1)
    // Two lists in which more values are than are searched.
    expect(await post(IMAGES, { x, y: x })).toEqual([400, 'y'])
    expect(await post(IMAGES, { x: 'a'.repeat(2_200_000), y: 'a'.repeat(2_200_000) })).toEqual([
      ...[400, 'y'],
    ])
    parse.mockRestore()
  })
})

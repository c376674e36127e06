import { beforeEach, describe, expect, it, vi } from 'vitest'
import { CHANNELS_STREAM } from '#domain/channels/events.ts'
import { startedForEach } from '#test/support/started-by-hook.ts'
import { KEY, relayRig } from './support/relay-rig.ts'
import { scriptedProvider } from './support/scripted-provider.ts'

const MODEL = 'gemini-2.5-flash-image'
const [IMAGES, CHATS] = ['/v1/images/generations', '/v1/chat/completions']
const PICTURE = 'https://a.example/1.png'
const BASE64 = 'iVBORw0K'.repeat(8)
const INLINE = { mimeType: 'image/png', data: BASE64 }
const VIDEO = { mimeType: 'video/mp4', fileUri: 'https://a.example/1.mp4' }
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const [PART, MEMBER] = ['messages[0].content[1]', 'messages[0].image_url']
const AUDIO = 'contents[0].parts[0] (audio)'
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

async function send(path: string, body: object) {
  const messages = [{ role: 'user', content: 'a hat' }]
  const prompt = path === IMAGES ? { prompt: 'a hat' } : { messages }
  const response = await fetch(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, ...prompt, ...body }),
  })
  return { status: response.status, text: await response.text() }
}

async function post(path: string, body: object) {
  const { status, text } = await send(path, body)
  const { error } = JSON.parse(text) as { error?: { param?: string } }
  return [status, error?.param]
}

const user = (part: object) => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'a hat' }, part] }],
})
const video = { type: 'video_url', video_url: { url: PICTURE } }
/** A chat with `count` parts that are lost before `part`. */
const withLosses = (count: number, part: object) => {
  const lost = Array.from({ length: count }, (_, n) => ({ type: `unknown_${n}` }))
  return { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, ...lost, part] }] }
}
/** A tool whose schema has 1 500 members that Gemini's format does not have. */
const TOOL = {
  type: 'function',
  function: {
    name: 'draw',
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 1_500 }, (_, n) => [
          `p${n}`,
          { type: 'string', contentEncoding: 'x' },
        ]),
      ),
    },
  },
}

/** Sends a request in Gemini's format to a channel of another format. */
async function postToGemini(body: object) {
  await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
  await rig.addChannel(3, { type: 1, baseUrl: provider.url, models: [MODEL] })
  const message = { role: 'assistant', content: 'Here it is.' }
  const answer = { id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: USAGE }
  provider.answers.set('POST /v1/chat/completions', { body: answer })
  const path = `/v1beta/models/${MODEL}:generateContent`
  return await send(path, { messages: undefined, ...body })
}

describe('a request for an image', () => {
  it.each([
    [IMAGES, { extra_body: { image: PICTURE } }, 'extra_body.image'],
    [IMAGES, { extra_body: `{"user":"x","image":"${PICTURE}"}` }, 'extra_body.image'],
    [CHATS, { extra_body: { image: PICTURE } }, 'extra_body.image'],
    [CHATS, { extra_body: { 'a.b': { image: PICTURE } } }, 'extra_body.a.b'],
    [
      ...([CHATS, { extra_body: { google: { refs: ['data:image/png;base64,QUJD'] } } }] as const),
      'extra_body.google.refs',
    ],
    [CHATS, user(video), 'messages[0].content[1]'],
    [CHATS, user({ type: 'image', source: { type: 's3', url: PICTURE } }), PART],
    [CHATS, user({ type: 'image', source: { type: 'bytes', data: BASE64 } }), PART],
    [CHATS, user({ type: 'text', text: 'x', image_url: PICTURE }), `${PART}.image_url`],
    [CHATS, { messages: [{ role: 'user', content: 'x', image_url: PICTURE }] }, MEMBER],
    [
      CHATS,
      withLosses(900, { type: 'image', source: { type: 's3', url: PICTURE } }),
      'messages[0].content[901]',
    ],
    [
      CHATS,
      { messages: [{ role: 'user', content: 'a hat', attachments: [{ url: PICTURE }] }] },
      'messages[0].attachments',
    ],
    [CHATS, withLosses(150, video), 'messages[0].content[151]'],
  ])('is refused by %s if a file is not sent: %j', async (path, body, param) => {
    expect(await post(path, body)).toEqual([400, param])
    expect(provider.requests).toEqual([])
  })

  it.each([
    [{ parts: [{ fileData: VIDEO }] }, 'contents[0].parts[0].fileData (video/mp4)'],
    [{ parts: [{ inline_data: { mime_type: 'audio/ogg', data: 'QUJD' } }] }, AUDIO],
    [{ parts: [{ text: 'x', image_url: PICTURE }] }, 'contents[0].parts[0].imageUrl'],
    [{ parts: { text: 'x', image_url: PICTURE } }, 'contents[0].parts[0].imageUrl'],
    [{ parts: [{ text: 'x' }], image_url: PICTURE }, 'contents[0].imageUrl'],
  ])('is refused with a file in Gemini’s format that is not sent: %j', async (content, param) => {
    const { status, text } = await postToGemini({ contents: [{ role: 'user', ...content }] })
    expect(status, text).toBe(400)
    expect(text).toContain(param)
    expect(provider.requests).toEqual([])
  })

  it.each([
    [{ reference_images: [PICTURE] }, 'reference_images'],
    [
      { system_instruction: { parts: [{ inline_data: INLINE }, { text: 'x' }] } },
      'systemInstruction.parts[0].inlineData',
    ],
  ])(
    'is refused with a file beside the contents in Gemini’s format: %j',
    async (members, param) => {
      const contents = [{ role: 'user', parts: [{ text: 'a hat' }] }]
      const { status, text } = await postToGemini({ contents, ...members })
      expect(status, text).toBe(400)
      expect(text).toContain(param)
      expect(provider.requests).toEqual([])
    },
  )

  it('is refused with a file that a translation to a proprietary API does not read', async () => {
    await rig.append(CHANNELS_STREAM, { type: 'ChannelsDeleted', v: 1, data: { channelIds: [2] } })
    await rig.addChannel(3, { type: 34, baseUrl: provider.url, models: [MODEL] })
    expect(await post(CHATS, user(video))).toEqual([400, PART])
    expect(provider.requests).toEqual([])
  })

  it.each([
    ['/v1/messages', { type: 'image', source: { type: 's3', url: PICTURE } }, 'messages[0]'],
    ['/v1/responses', { type: 'video_url', video_url: PICTURE }, 'input[0]'],
  ])('is refused by %s with a part that is not sent', async (path, part, place) => {
    const content = [{ type: 'text', text: 'a hat' }, part]
    const list = [{ role: 'user', content }]
    const body = path === '/v1/messages' ? { messages: list } : { messages: undefined, input: list }
    const { status, text } = await send(path, { max_tokens: 100, ...body })
    expect(status, text).toBe(400)
    expect(text).toContain(`${place}.content[1]`)
    expect(provider.requests).toEqual([])
  })

  it.each([
    [{ type: 'image_generation_call', id: 'ig_1', result: BASE64 }, 200],
    [{ type: 'mcp_list_tools', tools: [{ image_url: { default: PICTURE } }] }, 200],
    [{ type: 'computer_call_output', output: { image_url: 'data:image/png;base64,QUJD' } }, 400],
  ])(
    'of the Responses API is refused for an input, not for an answer: %j',
    async (item, status) => {
      const input = [{ role: 'user', content: 'a hat' }, item, { role: 'user', content: 'go on' }]
      const sent = await send('/v1/responses', { messages: undefined, input })
      expect(sent.status, sent.text).toBe(status)
    },
  )

  it.each([
    [{ fileData: VIDEO }],
    [{ inlineData: { mimeType: 'audio/ogg', data: 'QUJD' } }],
    [{ inlineData: INLINE }],
  ])('is sent without what the model answered earlier in Gemini’s format: %j', async (part) => {
    const contents = [
      { role: 'user', parts: [{ text: 'a hat' }] },
      { role: 'model', parts: [{ text: 'Here it is.' }, part] },
      { role: 'user', parts: [{ text: 'another one' }, { inlineData: INLINE }] },
    ]
    const { status, text } = await postToGemini({ contents })
    expect(status, text).toBe(200)
  })

  it.each([
    [IMAGES, { metadata: { framework: 'https://langchain.com', image_ref: PICTURE } }],
    [IMAGES, { user: PICTURE, extra_headers: { 'X-Image-Source': PICTURE } }],
    [IMAGES, { client_metadata: { image_url: PICTURE }, request_metadata: { image: PICTURE } }],
    [IMAGES, { extra_body: { metadata: { image: PICTURE }, user: { image_url: PICTURE } } }],
    [IMAGES, { output_image_url: PICTURE, image_upload_url: PICTURE, upload_url: PICTURE }],
    [IMAGES, { result_file_id: 'abc', webhook: { image_url: PICTURE }, note: 'data:,a hat' }],
    [CHATS, { extra_body: { metadata: { image: PICTURE }, user: { image_url: PICTURE } } }],
    [CHATS, withLosses(150, { type: 'image_url', image_url: { url: PICTURE } })],
    [CHATS, withLosses(1_500, { type: 'image_url', image_url: { url: PICTURE } })],
    [CHATS, { ...user({ type: 'image_url', image_url: { url: PICTURE } }), tools: [TOOL] }],
    [
      CHATS,
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'image_url', image_url: { url: PICTURE } }],
            attachments: [{ url: PICTURE, contentType: 'image/png' }],
          },
        ],
      },
    ],
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
    const name = ' (audio/'.repeat(500)
    expect(await post(CHATS, { extra_body: { [name]: 1 } })).toEqual([200, undefined])
    expect(performance.now() - before).toBeLessThan(5_000)
  })

  it('is searched quickly if it has very many losses', async () => {
    const before = performance.now()
    const part = Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`a_b${n}`, 'x']))
    const contents = [{ role: 'user', parts: [{ text: 'a hat', ...part }] }]
    expect((await postToGemini({ contents })).status).toBe(200)
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

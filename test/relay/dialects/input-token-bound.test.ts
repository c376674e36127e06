import { describe, expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { readMessagesRequest } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { readChatRequest } from '#relay/dialects/openai-chat/chat-format.ts'
import { budget, threadCpuMs } from '#test/support/time-limit.ts'

const MOST = 10_000_000
/** Of a short request without anything but text. */
const BARE = 101_000

function boundOf(json: string) {
  const request = readChatRequest(Buffer.from(json))
  if (isRelayError(request)) throw new Error(`code: ${request.code}`)
  return request.inputBound
}
const ofRequest = (others: object) =>
  boundOf(JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...others }))
const ofMessage = (others: object) => ofRequest({ messages: [{ role: 'user', ...others }] })
const ofPart = (part: unknown) => ofMessage({ content: [part] })
const URL = { url: 'https://a.example/x' }

describe('the input ceiling of text', () => {
  it.each([
    ['a text', { content: 'type image_url "image_url": \\u0065' }],
    ['a part', { content: [{ type: 'text', text: '{"type":"image_url"}' }] }],
    ['a part without a type', { content: [{ text: 'x', cache_control: { type: 'ephemeral' } }] }],
    ['an empty list', { content: [] }],
    ['a refusal', { content: [{ refusal: 'no', type: 'refusal' }], refusal: null }],
    ['tool calls', { content: null, tool_calls: [{ id: 'c', type: 'image_url', function: {} }] }],
    ['reasoning', { content: 'x', reasoning_content: 'image_url', annotations: [] }],
  ])('has no extra room for %s', (_name, message) => {
    const { tokens, ceiling } = ofMessage(message)
    expect(ceiling).toBe(tokens * 2 + 100_000)
    expect(tokens).toBeLessThan(200)
  })
})

describe('the input ceiling of a part', () => {
  it.each([
    ['image_url', { type: 'image_url', image_url: URL }, 50_000],
    ['image_url without a type', { image_url: URL }, 50_000],
    ['a type alone', { type: 'image_url' }, 50_000],
    ['image', { type: 'image', image: URL.url }, 50_000],
    ['input_image', { type: 'input_image', image_url: URL.url }, 50_000],
    ['a picture that says it is text', { type: 'text', text: 'x', image_url: URL }, 50_000],
    ['video_url', { type: 'video_url', video_url: URL }, 2_000_000],
    ['frames', { type: 'video', video: [URL.url, URL.url], fps: 2 }, 2_000_000],
    ['input_audio', { type: 'input_audio', input_audio: { data: 'UklG' } }, 500_000],
    ['audio_url', { audio_url: URL }, 500_000],
    ['file', { type: 'file', file: { file_id: 'f' } }, 1_000_000],
    ['file_url', { file_url: URL }, 1_000_000],
    ['document', { type: 'document', document: {} }, 1_000_000],
    ['two kinds of media', { type: 'file', file: {}, image_url: URL }, 1_050_000],
  ])('has extra room for %s', (_name, part, room) => {
    const { ceiling } = ofPart(part)
    expect(ceiling).toBeGreaterThanOrEqual(100_000 + room)
    expect(ceiling).toBeLessThan(MOST)
  })

  it.each([
    ['an unknown type', { type: 'tool_result', content: [] }],
    ['an unknown member', { type: 'text', text: 'x', source: URL }],
    ['content in a part', { type: 'text', text: 'x', content: [{ type: 'text', text: 'x' }] }],
    ['a list of pictures', { image_url: [URL, URL] }],
    ['a type that is not a string', { type: 5 }],
    ['a text', 'x'],
    ['a list', [{ type: 'image_url' }]],
  ])('is the maximum for %s', (_name, part) => {
    expect(ofPart(part).ceiling).toBe(MOST)
  })

  it('counts a picture in the result of a tool in Anthropic’s form', () => {
    const result = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image' }] }
    expect(ofPart(result).tokens).toBeGreaterThan(6_000)
  })

  it('counts every part, in every message', () => {
    const picture = { type: 'image_url', image_url: URL }
    const message = { role: 'user', content: [picture, { type: 'text', text: 'x' }, picture] }
    const { tokens, ceiling } = ofRequest({ messages: [message, message] })
    expect(tokens).toBeGreaterThan(24_000)
    expect(ceiling).toBe(tokens * 2 + 100_000 + 200_000)
  })
})

/** Encodes each letter of the word, as JSON allows. */
const escaped = (word: string): string =>
  word.replaceAll(/[a-z_]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`)
const ofContent = (part: string) => boundOf(`{"model":"m","messages":[{"content":[${part}]}]}`)

describe('the input bound of a part with escapes', () => {
  it.each([
    ['{"type":"d\\u006fcument"}', 100_000],
    ['{"type":"f\\u0069le","f\\u0069le":{"file_data":"https://x/a.pdf"}}', 100_000],
    ['{"t\\u0079pe":"file"}', 100_000],
    [`{"${escaped('type')}":"${escaped('image_url')}"}`, 6_000],
    ['{"type":"text","text":"x","\\u0069mage_url":{}}', 6_000],
    ['{"t\\u0079pe":"text","t\\u0065xt":"x"}', 0],
  ])('is that of the decoded part %s', (part, tokens) => {
    const bound = ofContent(part)
    expect(bound.tokens).toBeGreaterThanOrEqual(tokens)
    expect(bound.tokens).toBeLessThan(tokens + 300)
    expect(bound.ceiling).toBeLessThan(MOST)
  })

  it.each([
    ['an unknown type', '{"type":"d\\u006fcuments"}'],
    ['an unknown member', '{"d\\u006fcuments":{}}'],
    ['an escaped quote', '{"type":"file\\""}'],
    ['a longer name than any known', `{"type":"${'\\u0066'.repeat(40)}"}`],
  ])('raises only the ceiling for %s', (_name, part) => {
    const { tokens, ceiling } = ofContent(part)
    expect(tokens).toBeLessThan(400)
    expect(ceiling).toBe(MOST)
  })

  it('reads digits of escapes in any letter case', () => {
    expect(ofContent('{"type":"image\\u005Furl"}').tokens).toBeGreaterThan(6_000)
    expect(ofContent('{"type":"image\\u005furl"}').tokens).toBeGreaterThan(6_000)
  })

  it.each(['\\x', '\\u00', '\\u006', '\\u00g6'])(
    'leaves the invalid escape %s to the scanner',
    (sign) => {
      const body = `{"model":"m","messages":[{"content":[{"type":"${sign}"}]}]}`
      expect(isRelayError(readChatRequest(Buffer.from(body)))).toBe(true)
    },
  )
})

describe('a member of a part that a provider may read as another one', () => {
  it.each([
    ['{"Type":"image_url","image_url":{}}', 'Type', 'type'],
    ['{"type":"text","text":"x","TYPE":"file"}', 'TYPE', 'type'],
    ['{"type":"text","text":"x","\\u0054ype":"file"}', 'Type', 'type'],
    ['{"Image_URL":{}}', 'Image_URL', 'image_url'],
    ['{"Text":"x"}', 'Text', 'text'],
  ])('is refused: %s', (part, key, other) => {
    const messages = `[{"role":"user","content":[{"type":"text","text":"x"},${part}]}]`
    for (const read of [readChatRequest, readMessagesRequest]) {
      if (read === readMessagesRequest && key === 'Image_URL') continue
      const request = read(Buffer.from(`{"model":"m","max_tokens":5,"messages":${messages}}`))
      const params = { param: `messages[].content[].${key}`, subject: other }
      expect(request).toMatchObject({ code: 'ambiguous_key', params })
    }
  })

  it('is refused in the result of a tool of Anthropic', () => {
    const parts = '[{"type":"tool_result","content":[{"Type":"image"}]},{"Content":[]}]'
    const json = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":${parts}}]}`
    expect(readMessagesRequest(Buffer.from(json))).toMatchObject({ code: 'ambiguous_key' })
  })

  it('is bounded in time', () => {
    const part = `{${Array.from({ length: 180_000 }, (_, at) => `"Key${at}":1`).join()}}`
    const startedAt = threadCpuMs()
    readChatRequest(Buffer.from(`{"model":"m","messages":[{"content":[${part}]}]}`))
    expect(threadCpuMs() - startedAt).toBeLessThan(budget(1_000))
  })
})

it('the longest type of a part of Anthropic has at most one token per byte', () => {
  const part = '{"type":"text_editor_code_execution_tool_result","tool_use_id":"t","content":{}}'
  const json = `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":[${part}]}]}`
  const request = readMessagesRequest(Buffer.from(json))
  if (isRelayError(request)) throw new Error(`code: ${request.code}`)
  expect(request.inputBound.ceiling).toBeLessThan(MOST)
})

describe("the input bound of Anthropic's messages with escapes", () => {
  const DOCUMENT = '{"type":"d\\u006fcument","source":{"type":"url","url":"https://x/a.pdf"}}'
  it.each([
    ['in a message', DOCUMENT],
    ["in a tool's result", `{"type":"tool_result","c\\u006fntent":[${DOCUMENT}]}`],
  ])('covers a document %s', (_name, part) => {
    const json = `{"model":"m","max_tokens":5,"messages":[{"role":"user","content":[${part}]}]}`
    const request = readMessagesRequest(Buffer.from(json))
    if (isRelayError(request)) throw new Error(`code: ${request.code}`)
    expect(request.inputBound.tokens).toBeGreaterThan(100_000)
  })
})

describe('the input ceiling of a message', () => {
  it('has room for audio that is referenced by its id', () => {
    const { ceiling } = ofMessage({ audio: { id: 'a' }, content: [{ type: 'text', text: 'x' }] })
    expect(ceiling).toBeGreaterThan(600_000)
    expect(ceiling).toBeLessThan(MOST)
  })

  it.each([{ images: ['UklG'] }, { files: [] }, { unheard_of: 1 }])(
    'is the maximum for %j',
    (others) => {
      expect(ofMessage({ content: 'x', ...others }).ceiling).toBe(MOST)
    },
  )

  it('is the maximum for an escaped member with a rule, whose parts are counted', () => {
    const content = '[{"type":"image_url","image_url":{}}]'
    const messages = `[{"role":"user","c\\u006fntent":${content}}]`
    const { tokens, ceiling } = boundOf(`{"model":"m","messages":${messages}}`)
    expect(ceiling).toBe(MOST)
    expect(tokens).toBeGreaterThan(6_000)
  })

  it('is that of the decoded member for another escaped member', () => {
    const messages = '[{"content":"x","aud\\u0069o":{"id":"a"}}]'
    const { ceiling } = boundOf(`{"model":"m","messages":${messages}}`)
    expect(ceiling).toBeGreaterThan(600_000)
    expect(ceiling).toBeLessThan(MOST)
  })
})

describe('the input ceiling of a request', () => {
  it.each([
    ...['web_search_options', 'search_parameters', 'enable_search', 'search_options'],
    ...['web_search', 'plugins', 'Enable_Search'],
  ])('has room for search results of the member %s', (name) => {
    const { ceiling } = ofRequest({ [name]: true })
    expect(ceiling).toBeGreaterThan(300_000)
    expect(ceiling).toBeLessThan(MOST)
  })

  it.each([{ type: 'web_search' }, { googleSearch: {} }])(
    'has room for search results of the tool %j',
    (tool) => {
      expect(ofRequest({ tools: [tool] }).ceiling).toBeGreaterThan(300_000)
    },
  )

  it('has no extra room for functions', () => {
    const tool = { type: 'function', function: { name: 'web_search', parameters: {} } }
    expect(ofRequest({ tools: [tool], top_k: 5 }).ceiling).toBeLessThan(BARE)
  })

  it.each([
    ['{"type":"f\\u0075nction","function":{"name":"f"}}', true],
    ['{"t\\u0079pe":"function","f\\u0075nction":{"name":"f"}}', true],
    ['{"type":"web_s\\u0065arch"}', false],
    ['{"t\\u0079pe":"web_search","name":"f"}', false],
  ])('decodes the type of the tool %s', (tool, isCallerTool) => {
    const { ceiling } = boundOf(
      `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[${tool}]}`,
    )
    expect(ceiling < BARE).toBe(isCallerTool)
  })

  it.each(['previous_response_id', 'documents', 'file_ids'])(
    'is the maximum for the member %s',
    (name) => {
      expect(ofRequest({ [name]: 'x' }).ceiling).toBe(MOST)
    },
  )
})

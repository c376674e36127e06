import { describe, expect, it } from 'vitest'
import { RequestTextCollector } from '#relay/token-counts/collect-request-text.ts'
import { TEXT_SEPARATOR } from '#relay/token-counts/utf8-boundaries.ts'

const NEWLINE = 10

/** Collects the texts of a request. Here, a line feed stands for the separator of two texts. */
function read(json: string | Buffer, pieceBytes = Number.POSITIVE_INFINITY) {
  const bytes = Buffer.from(json)
  const request = new RequestTextCollector()
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    request.feed(piece, piece.length)
  }
  const { text, messages, images } = request
  const kept = text.bytes.subarray(0, text.length)
  const lines = kept.map((byte) => (byte === TEXT_SEPARATOR ? NEWLINE : byte))
  return { text: Buffer.from(lines).toString(), messages, images }
}

const REQUEST = {
  model: 'messages',
  messages: [
    { role: 'system', content: 'Be "short".\n\\ / \t中文 😀 é' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'text', text: '' },
      ],
    },
    {
      role: 'user',
      name: 'not counted',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', text: 'no' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{"a": 1}' } }],
    },
  ],
  metadata: { messages: [{ content: 'no' }] },
  tools: [{ type: 'function', function: { name: 'f', parameters: { a: [1, 2.5, true, null] } } }],
  response_format: { type: 'json_object' },
  stream: true,
}

const TEXT = [
  'Be "short".\n\\ / \t中文 😀 é',
  'look',
  '',
  JSON.stringify(REQUEST.messages[3]?.tool_calls),
  JSON.stringify(REQUEST.tools),
  JSON.stringify(REQUEST.response_format),
].join('\n')

const EXPECTED = { text: TEXT, messages: 4, images: 1 }

describe('text of a request of the Responses API', () => {
  const CALL = { type: 'function_call', call_id: 'c', name: 'read', arguments: '{"a": 1}' }
  const ACTION = { type: 'exec', command: ['ls'] }
  const items = [
    { role: 'user', content: 'a text' },
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant' },
      content: [{ type: 'output_text', text: 'an answer', annotations: [] }],
    },
    {
      ...{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA' },
      summary: [{ type: 'summary_text', text: 'a thought' }],
    },
    CALL,
    { type: 'function_call_output', call_id: 'c', output: 'a result' },
    {
      ...{ type: 'function_call_output', call_id: 'c' },
      output: [
        { type: 'input_text', text: 'a part' },
        { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      ],
    },
    { type: 'local_shell_call', id: 'lsh_1', action: ACTION },
    { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'out', stderr: 'err' }] },
  ]

  it('consists of instructions, items, tools and the format', () => {
    const tools = [{ type: 'custom', name: 'patch' }]
    const text = { format: { type: 'json_object' } }
    const body = { model: 'input', instructions: 'Be brief.', input: items, tools, text }
    const collected = read(JSON.stringify({ ...body, metadata: { input: 'no' }, user: 'no' }))
    expect(collected.text.split('\n')).toEqual([
      ...[
        'Be brief.',
        'a text',
        'an answer',
        'a thought',
        '"read"',
        JSON.stringify(CALL.arguments),
      ],
      ...['a result', 'a part', JSON.stringify(ACTION), 'out', 'err'],
      ...[JSON.stringify(tools), JSON.stringify(text)],
    ])
    expect(collected).toMatchObject({ messages: items.length, images: 1 })
  })

  it('may be one text', () => {
    expect(read('{"input":"Hi","model":"m"}')).toEqual({ text: 'Hi', messages: 0, images: 0 })
  })
})

describe('text of a request', () => {
  it('consists of messages, tool calls, tools and the response format', () => {
    expect(read(JSON.stringify(REQUEST))).toEqual(EXPECTED)
  })

  it('does not depend on white space in the JSON', () => {
    expect(read(JSON.stringify(REQUEST, null, '\t'))).toEqual(EXPECTED)
  })

  it('does not depend on where the bytes are cut', () => {
    const json = JSON.stringify(REQUEST)
    for (let size = 1; size <= 40; size += 1) expect(read(json, size)).toEqual(EXPECTED)
  })

  it('does not depend on how characters are escaped, in keys and types either', () => {
    const escaped = JSON.stringify(REQUEST).replace(/[a-z\u0080-\uffff]/g, (letter) => {
      const code = letter.charCodeAt(0).toString(16).padStart(4, '0')
      return `\\u${code}`
    })
    // In its numbers and words nothing can be escaped.
    const json = escaped
      .replaceAll(/(?<=[:,[])(?:\\u[0-9a-f]{4})+(?=[,\]}])/g, (word) => JSON.parse(`"${word}"`))
      .replaceAll('\\\\u006e', '\\n')
      .replaceAll('\\\\u0074', '\\t')
    expect(JSON.parse(json)).toEqual(REQUEST)
    for (const size of [1, 7, 10_000]) expect(read(json, size)).toEqual(EXPECTED)
  })

  it('contains raw JSON values with normalised escapes', () => {
    const json = '{"tools":[{"d":"a\\nb\\u000a\\"\\u4e2d"}],"messages":[]}'
    expect(read(json).text).toBe('[{"d":"a\\nb\\n\\"中"}]')
  })

  it('is empty for a body without messages', () => {
    expect(read('{"messages":"text","prompts":"no","inputs":["no"]}').text).toBe('')
  })
})

describe("text of a request in Anthropic's format", () => {
  const ofParts = (...content: unknown[]) =>
    read(JSON.stringify({ messages: [{ role: 'user', content }] }))
  const document = (source: object, others: object = {}) => ({
    ...{ type: 'document', source, ...others },
  })
  const PLAIN = { type: 'text', media_type: 'text/plain', data: 'plain text' }
  const PDF = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
  const PICTURE = { type: 'image', source: { ...PDF, media_type: 'image/png' } }

  it.each([
    ['a plain text', PLAIN],
    ['data before its type', { data: 'plain text', media_type: 'text/plain', type: 'text' }],
    ['data without a type', { data: 'plain text' }],
    ['a text as content', { type: 'content', content: 'plain text' }],
    ['parts', { type: 'content', content: [{ type: 'text', text: 'plain text' }] }],
    ['a text after a picture', { type: 'text', content: [PICTURE], data: 'plain text' }],
  ])('contains a document with %s', (_name, source) => {
    expect(ofParts(document(source)).text).toBe('plain text')
    const result = { type: 'tool_result', tool_use_id: 'no', content: [document(source)] }
    expect(ofParts(result).text).toBe('plain text')
  })

  it("contains a document's title and context", () => {
    const others = { title: 'a title', context: 'a context', citations: { enabled: true } }
    expect(ofParts(document(PLAIN, others)).text).toBe('plain text\na title\na context')
  })

  it('contains search results, also those of tools', () => {
    const content = [{ type: 'text', text: 'found' }]
    const result = { type: 'search_result', source: 'https://no', title: 'a title', content }
    expect(ofParts(result).text).toBe('a title\nfound')
    expect(ofParts({ type: 'tool_result', content: [result] }).text).toBe('a title\nfound')
  })

  it('does not contain base64 data or URLs', () => {
    const url = document({ type: 'url', url: 'https://no' })
    const thought = { type: 'redacted_thinking', data: 'no' }
    expect(ofParts(document(PDF), PICTURE, url, thought)).toMatchObject({ text: '', images: 1 })
  })

  it('does not contain base64 data before its type', () => {
    const { type, ...data } = PDF
    const long = { media_type: 'text/plain', data: 'plain text '.repeat(30_000) }
    expect(
      ofParts(document({ ...data, type }), { ...PICTURE, source: { ...data, type } }).text,
    ).toBe('')
    expect(ofParts(document({ ...long, type })).text).toBe('')
    const { length } = ofParts(document({ ...long, type: 'text' })).text
    expect(length).toBeGreaterThan(60_000)
  })

  it.each([
    '{"type":"base64","data":"plain text","type":"text"}',
    '{"type":"text","data":"plain text","type":"base64"}',
    '{"data":"plain text","type":"base64","type":"text"}',
    '{"data":"plain","type":"base64","data":" text"}',
    '{"data":"plain text","content":[{"source":{"data":"AAAA","type":"base64"}}]}',
  ])('contains the data of %s, which a provider may read as text', (source) => {
    const json = `{"messages":[{"role":"user","content":[{"type":"document","source":${source}}]}]}`
    for (const size of [1, 1_000]) {
      const { text } = read(json, size)
      if (source.includes('" text"')) expect(text).toBe('')
      else expect(text).toBe('plain text')
    }
  })

  it.each(['output_config', 'output_format'])('contains the member %s', (name) => {
    const format = { type: 'json_schema', schema: { description: 'long' } }
    expect(read(JSON.stringify({ messages: [], [name]: format })).text).toBe(JSON.stringify(format))
  })
})

describe('the text of a completion', () => {
  it.each([
    ['Once "upon"', 'Once "upon"'],
    [['a', 'b'], 'a\nb'],
    [[1, 22, 333], '1,22,333,'],
    [[[1, 2], [3]], '1,2,3,'],
  ])('is its prompt %j', (prompt, text) => {
    const json = JSON.stringify({ model: 'm', prompt, n: 7, user: 'not counted' })
    for (const pieceBytes of [1, 3, 1_000]) expect(read(json, pieceBytes).text).toBe(text)
  })

  it('has the suffix', () => {
    expect(read('{"suffix":"b","max_tokens":5,"prompt":"a"}').text).toBe('b\na')
  })
})

import { KEY } from '../support/relay-rig.ts'

export const MODEL = 'model'

// biome-ignore lint/suspicious/noExplicitAny: the tests compare what they read.
type Values = any

export type CallerFormat = {
  readonly name: string
  readonly path: (isStream: boolean) => string
  readonly body: (isStream: boolean) => object
  /** Returns the text in an answer or in one event of a stream. */
  readonly textOf: (value: Values) => unknown
  readonly end: RegExp
}

const question = { role: 'user', content: 'How is the weather?' }
export const FORMATS: readonly CallerFormat[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (stream) => ({ model: MODEL, stream, max_tokens: 100, messages: [question] }),
    textOf: ({ choices: [choice] = [] }) => choice?.message?.content ?? choice?.delta?.content,
    end: /data: \[DONE\]\n\n$/,
  },
  {
    name: 'messages',
    path: () => '/v1/messages',
    body: (stream) => ({ model: MODEL, stream, max_tokens: 100, messages: [question] }),
    textOf: ({ content, delta }) =>
      content?.map(({ text }: Values) => text).join('') ?? delta?.text,
    end: /event: message_stop\ndata: [^\n]*\n\n$/,
  },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: (stream) => ({ model: MODEL, stream, max_output_tokens: 100, store: false, input: 'Hi' }),
    textOf: ({ type, output, delta }) =>
      output?.flatMap(({ content }: Values) => content.map(({ text }: Values) => text)).join('') ??
      (type === 'response.output_text.delta' ? delta : ''),
    end: /event: response\.completed\ndata: [^\n]*\n\n$/,
  },
  {
    name: 'Gemini',
    path: (isStream) =>
      `/v1beta/models/${MODEL}:${isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({
      contents: [{ role: 'user', parts: [{ text: 'How is the weather?' }] }],
      generationConfig: { maxOutputTokens: 100 },
    }),
    textOf: ({ candidates: [first] = [] }) =>
      first?.content?.parts?.map(({ text }: Values) => text).join(''),
    end: /"finishReason":"STOP"[^\n]*\r?\n\r?\n$/,
  },
]

/** Sends a short question. */
export const sendQuestion = (
  url: string,
  format: CallerFormat,
  isStream: boolean,
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(`${url}${format.path(isStream)}`, {
    method: 'POST',
    headers: { authorization: `Bearer sk-${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(format.body(isStream)),
    ...(signal && { signal }),
  })

/** Splits a stream into what is before its first event with text, that event, and the rest. */
export function splitAtText(stream: Buffer, format: CallerFormat): [Buffer, Buffer, Buffer] {
  let start = 0
  for (;;) {
    const end = stream.indexOf('\n\n', start) + 2
    if (end < 2) throw new Error('a stream without text')
    if (textIn(stream.toString('utf8', start, end), format) !== '') {
      return [stream.subarray(0, start), stream.subarray(start, end), stream.subarray(end)]
    }
    start = end
  }
}

/** Returns the text of a complete answer or of a complete stream. */
export function textIn(bytes: string, { textOf }: CallerFormat): string {
  if (bytes.startsWith('{')) return String(textOf(JSON.parse(bytes)) ?? '')
  const events = [...bytes.matchAll(/^data: ?(\{.*)$/gm)].map(([, data = '']) => JSON.parse(data))
  return events.map((event) => textOf(event) ?? '').join('')
}

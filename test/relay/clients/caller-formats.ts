import { KEY } from '../support/relay-rig.ts'

export const MODEL = 'model'

export type CallerFormat = {
  readonly name: string
  readonly path: (isStream: boolean) => string
  readonly body: (isStream: boolean) => object
  /** Matches each piece of text in an answer or in the events of a stream. */
  readonly text: RegExp
  readonly end: RegExp
}

const question = { role: 'user', content: 'How is the weather?' }
export const FORMATS: readonly CallerFormat[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (stream) => ({ model: MODEL, stream, max_tokens: 100, messages: [question] }),
    text: /"content":"((?:[^"\\]|\\.)*)"/g,
    end: /data: \[DONE\]\n\n$/,
  },
  {
    name: 'messages',
    path: () => '/v1/messages',
    body: (stream) => ({ model: MODEL, stream, max_tokens: 100, messages: [question] }),
    text: /"text":"((?:[^"\\]|\\.)*)"/g,
    end: /event: message_stop\ndata: [^\n]*\n\n$/,
  },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: (stream) => ({ model: MODEL, stream, max_output_tokens: 100, store: false, input: 'Hi' }),
    text: /"(?:output_text","text|output_text\.delta"[^\n]*?"delta)":"((?:[^"\\]|\\.)*)"/g,
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
    text: /"text":"((?:[^"\\]|\\.)*)"/g,
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

export const textIn = (bytes: string, { text }: CallerFormat): string =>
  [...bytes.matchAll(text)].map(([, piece]) => JSON.parse(`"${piece}"`)).join('')

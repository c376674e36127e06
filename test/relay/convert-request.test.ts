import { expect, it } from 'vitest'
import { chatExtensionsOf } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-request.ts'
import { GEMINI } from '#relay/dialects/gemini/generate-request.ts'
import { OPENAI_CHAT } from '#relay/dialects/openai-chat/chat-request.ts'
import { OPENAI_RESPONSES } from '#relay/dialects/openai-responses/responses-request.ts'
import { convertRequest } from '#relay/pipeline/convert-request.ts'

const TARGET = {
  ...{ model: 'm', outputTokensMax: 100 },
  ...{ format: 'gemini' as const, vendor: chatExtensionsOf(24) },
}
const FILE = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
const PUBLIC = 'https://a.example/a.png'

const bodiesWith = (url: string) =>
  [
    [
      OPENAI_CHAT,
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    ],
    [
      OPENAI_RESPONSES,
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
    ],
    [
      ANTHROPIC_MESSAGES,
      {
        max_tokens: 9,
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }],
      },
    ],
  ] as const

it.each(bodiesWith(FILE))(
  'an address of the site’s files at Google is refused in a conversion: $name',
  (format, body) => {
    const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), null)
    if ('code' in request) throw new Error(request.code)
    expect(convertRequest(request, GEMINI, TARGET)).toMatchObject({
      code: 'not_convertible',
      params: { param: 'url' },
    })
  },
)

it.each(bodiesWith(PUBLIC))('a public address is converted: $name', (format, body) => {
  const request = format.readRequest(Buffer.from(JSON.stringify({ model: 'm', ...body })), null)
  if ('code' in request) throw new Error(request.code)
  expect(convertRequest(request, GEMINI, TARGET)).not.toHaveProperty('code')
})

import { parentPort } from 'node:worker_threads'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { TOKENS_PER_IMAGE } from './rough-input.ts'

const LENGTH_MAX = 400_000
/** As OpenAI counts: so many for each message, and for the start of the answer. */
const TOKENS_PER_MESSAGE = 3
const TOKENS_PER_ANSWER = 3

type Question = {
  readonly id: number
  readonly requestBody: Uint8Array | null
  readonly text: string
}

parentPort?.on('message', ({ id, requestBody, text }: Question) => {
  const input = requestBody === null ? 0 : inputTokens(Buffer.from(requestBody).toString('utf8'))
  parentPort?.postMessage({ id, input, output: tokensOf(text) })
})

/** The start of a very long text is counted, the rest taken to be alike. */
function tokensOf(text: string): number {
  if (text.length <= LENGTH_MAX) return countTokens(text, { disallowedSpecial: new Set() })
  const counted = countTokens(text.slice(0, LENGTH_MAX), { disallowedSpecial: new Set() })
  return Math.ceil((counted * text.length) / LENGTH_MAX)
}

function inputTokens(json: string): number {
  const body = JSON.parse(json) as Record<string, unknown>
  const messages = Array.isArray(body.messages) ? body.messages : []
  const texts: string[] = []
  let images = 0
  for (const message of messages as ({ content?: unknown } | null)[]) {
    const content = message?.content
    if (typeof content === 'string') texts.push(content)
    else if (Array.isArray(content)) {
      for (const part of content as ({ type?: unknown; text?: unknown } | null)[]) {
        if (typeof part?.text === 'string') texts.push(part.text)
        else if (part?.type === 'image_url') images += 1
      }
    }
  }
  for (const key of ['tools', 'functions', 'response_format']) {
    if (body[key] !== undefined) texts.push(JSON.stringify(body[key]))
  }
  const overhead = TOKENS_PER_MESSAGE * messages.length + TOKENS_PER_ANSWER
  return tokensOf(texts.join('\n')) + images * TOKENS_PER_IMAGE + overhead
}

import { type Conversation, turnsOf } from './conversation.ts'

/** The same question as a call by a token, whose key is left for its owner to fill in. */
export function curlText(conversation: Conversation, origin: string): string {
  const { model, temperature, maxTokens } = conversation.settings
  const body = {
    model,
    stream: true,
    temperature: temperature / 10,
    ...(maxTokens === 0 ? {} : { max_tokens: maxTokens }),
    messages: turnsOf(conversation),
  }
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''")
  return [
    `curl ${origin}/v1/chat/completions \\`,
    `  -H 'Authorization: Bearer sk-…' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${json}'`,
  ].join('\n')
}

import type { JsonObject } from '#relay/canonical/json-values.ts'
import {
  type CanonicalRequest,
  type Converted,
  InexpressibleMemberError,
} from '../../canonical/canonical-request.ts'
import { addLoss } from '../collect-losses.ts'
import { readRequest as readChat } from '../openai-chat/read-request.ts'
import {
  isAbsent,
  optionalBoolean,
  optionalInteger,
  optionalText,
} from '../read-json-values-strictly.ts'

/** The output limit in tokens for a request without a limit. Source: OpenAI's documentation. */
const OUTPUT_TOKENS = 16
/** The members of a completion request that have the same meaning in a chat. */
const SHARED = [
  ...['model', 'stream', 'stream_options', 'temperature', 'top_p', 'top_k', 'seed', 'stop'],
  ...['presence_penalty', 'frequency_penalty', 'user', 'prompt_cache_key'],
]
const OWN = ['prompt', 'max_tokens', 'n', 'suffix', 'echo']

/**
 * Reads the body of `POST /v1/completions` as a chat with one message. A chat model then answers
 * the prompt instead of continuing it.
 */
export function readRequest(body: JsonObject): Converted<CanonicalRequest> {
  const shared = SHARED.flatMap((name) => (name in body ? [[name, body[name]]] : []))
  const messages = [{ role: 'user', content: promptOf(body.prompt) }]
  const limit = optionalInteger(body.max_tokens, 'max_tokens') ?? OUTPUT_TOKENS
  const { value, losses } = readChat({
    ...Object.fromEntries(shared),
    messages,
    max_tokens: limit,
  })
  const lost = [...losses]
  if ((optionalInteger(body.n, 'n') ?? 1) > 1) throw new InexpressibleMemberError('n', 'Must be 1.')
  // A chat can neither insert text before a suffix nor repeat its prompt.
  if (optionalText(body.suffix, 'suffix'))
    throw new InexpressibleMemberError('suffix', 'Must be empty.')
  if (optionalBoolean(body.echo, 'echo'))
    throw new InexpressibleMemberError('echo', 'Must be false.')
  for (const [name, member] of Object.entries(body)) {
    if (!SHARED.includes(name) && !OWN.includes(name) && !isAbsent(member)) addLoss(lost, name)
  }
  return { value, losses: lost }
}

/**
 * Returns the prompt. Throws a `ConversionError` if the prompt is not a single text. Token numbers
 * can't be converted, because they are specific to one model.
 */
function promptOf(prompt: unknown): string {
  const text: unknown = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
  if (typeof text === 'string' && text !== '') return text
  throw new InexpressibleMemberError('prompt', 'One text is expected.')
}

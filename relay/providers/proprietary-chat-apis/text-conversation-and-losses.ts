import {
  type CanonicalMessage,
  type CanonicalRequest,
  ConversionError,
} from '#relay/canonical/canonical-request.ts'
import { addLossesOfOpenAiMembers } from '#relay/conversion/members-of-openai-only.ts'

/** A feature of a request that goes beyond a conversation of texts. */
export type Feature =
  | 'tools'
  | 'images'
  | 'outputTokensMax'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stop'
  | 'thinking'
  | 'answerFormat'
  | 'logprobs'
  | 'endUser'

/**
 * Returns the losses of a request: the features that the request uses and the provider lacks.
 * Throws a `ConversionError` if the provider can't process the request's tools, pictures or other
 * content, because an answer that ignores them would not answer the request.
 */
export function lossesOf(request: CanonicalRequest, features: ReadonlySet<Feature>): string[] {
  const { tools, sampling } = request
  if (tools.length > 0 && !features.has('tools')) {
    throw new ConversionError('tools', 'The provider has no tools.')
  }
  for (const message of request.messages) checkContent(message, features)
  const requested: readonly (readonly [Feature, string, boolean])[] = [
    ['outputTokensMax', 'outputTokensMax', request.outputTokensMax !== null],
    ['temperature', 'sampling.temperature', sampling.temperature !== null],
    ['topP', 'sampling.topP', sampling.topP !== null],
    ['topK', 'sampling.topK', sampling.topK !== null],
    ['seed', 'sampling.seed', sampling.seed !== null],
    ['presencePenalty', 'sampling.presencePenalty', Boolean(sampling.presencePenalty)],
    ['frequencyPenalty', 'sampling.frequencyPenalty', Boolean(sampling.frequencyPenalty)],
    ['stop', 'sampling.stop', sampling.stop.length > 0],
    ['thinking', 'thinking', request.thinking !== null],
    ['answerFormat', 'answerFormat', request.answerFormat !== null],
    ['logprobs', 'logprobs', request.logprobs !== null],
    ['endUser', 'endUser', request.endUser !== null],
  ]
  const losses = requested.flatMap(([feature, path, isRequested]) =>
    isRequested && !features.has(feature) ? [path] : [],
  )
  if (request.promptCacheKey !== null) losses.push('promptCacheKey')
  addLossesOfOpenAiMembers(request, losses)
  return losses
}

function checkContent({ parts }: CanonicalMessage, features: ReadonlySet<Feature>): void {
  for (const part of parts) {
    const isTool = part.kind === 'tool-call' || part.kind === 'tool-result'
    const isMedia = part.kind === 'document' || part.kind === 'audio'
    const isUnusable =
      isMedia ||
      (isTool && !features.has('tools')) ||
      (part.kind === 'image' && !features.has('images'))
    if (isUnusable) {
      throw new ConversionError(`messages[].content[] (${part.kind})`, 'The provider reads text.')
    }
  }
}

type TextMessage = { readonly role: 'user' | 'assistant'; readonly text: string }

/**
 * A conversation for a provider that accepts only alternating texts of the user and the assistant.
 */
type TextConversation = {
  readonly system: string
  readonly messages: readonly TextMessage[]
}

/**
 * Returns the texts of a conversation. Consecutive messages of the same role are joined, because
 * the roles must alternate. Instructions within the conversation become texts of the user, and
 * earlier thinking is left out. Both changes are added to the losses.
 */
export function textConversation(request: CanonicalRequest, losses: string[]): TextConversation {
  const messages: TextMessage[] = []
  for (const { role, parts } of request.messages) {
    if (role === 'system') losses.push('messages[].role')
    const own = role === 'assistant' ? 'assistant' : 'user'
    const texts = textsOf(parts, losses)
    const last = messages.at(-1)
    if (texts === '' && last?.role === own) continue
    if (last?.role !== own) messages.push({ role: own, text: texts })
    else messages[messages.length - 1] = { role: own, text: `${last.text}\n\n${texts}` }
  }
  return { system: textsOf(request.system, losses), messages }
}

function textsOf(parts: CanonicalMessage['parts'], losses: string[]): string {
  const texts: string[] = []
  for (const part of parts) {
    if (part.kind === 'text' || part.kind === 'refusal') texts.push(part.text)
    else if (part.kind === 'thinking') losses.push('messages[].parts[] (thinking)')
  }
  return texts.join('\n\n')
}

/**
 * Returns the user's last text. Throws a `ConversionError` if the last message is not a text of the
 * user.
 */
export function lastQuestion({ messages }: TextConversation): string {
  const last = messages.at(-1)
  if (last?.role === 'user' && last.text !== '') return last.text
  throw new ConversionError('messages', 'The last message must be a text of the user.')
}

/** Returns a conversation as one text, for a provider that accepts only one prompt. */
export function transcriptOf(conversation: TextConversation): string {
  const question = lastQuestion(conversation)
  const { system, messages } = conversation
  const instructions = system === '' ? '' : `${system}\n\n`
  if (messages.length === 1) return `${instructions}${question}`
  const turns = messages.map(({ role, text }) => `${NAMES[role]}: ${text}`)
  return `${instructions}${turns.join('\n\n')}\n\n${NAMES.assistant}:`
}

const NAMES = { user: 'User', assistant: 'Assistant' } as const

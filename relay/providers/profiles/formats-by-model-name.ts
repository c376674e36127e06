import { VIDEO_PRICE_UNITS } from '#domain/pricing/video-prices.ts'
import { isNamedLikeModeration } from '#domain/shared/moderation-models.ts'
import { nameOfVersion } from '#domain/shared/versions-of-models.ts'
import type { DirectFormatName } from '#relay/dialects/wire-format.ts'
import { isImageModel } from './image-endpoints.ts'
import type { ModelPattern } from './provider-profile.ts'

/**
 * Patterns of model names, each with the direct formats (those that are never converted) in which
 * such a model is called.
 */
const DIRECT_MODELS: readonly (readonly [ModelPattern, readonly DirectFormatName[]])[] = [
  [{ test: isNamedLikeModeration }, ['moderations']],
  [/rerank/i, ['rerank']],
  [
    /embed|(?:^|[/:_-])(?:bge|gte|m3e|e5|stella)[-_]|(?:^|\/)m3e$|all-minilm|jina-clip|^tao-8k$/i,
    ['embeddings', 'gemini-embedding-batch', 'gemini-embedding'],
  ],
]

/**
 * Returns the direct formats (those that are never converted) in which a model with this name is
 * called. The list is empty for a model that generates answers. The name is only a hint: calls are
 * routed by the endpoints of the channels.
 */
export const directFormatsOf = (model: string): readonly DirectFormatName[] =>
  DIRECT_MODELS.find(([name]) => name.test(model))?.[1] ?? []

const SPEECH_MODEL = /(?:^|[/_-])tts(?:[-_]|$)|(?:^|\/)speech-|cosyvoice/i
const TRANSCRIPTION_MODEL = /whisper|transcribe|sensevoice/i

/**
 * Returns the direct formats (those that are never converted) in which a channel test calls a model
 * with this name.
 */
export function testFormatsOf(model: string): readonly DirectFormatName[] {
  if (isImageModel(model)) return ['images']
  if (SPEECH_MODEL.test(model)) return ['speech']
  return TRANSCRIPTION_MODEL.test(model) ? ['transcriptions'] : directFormatsOf(model)
}

const REALTIME_MODEL = /realtime/i

/** Reports whether a model with this name is likely to answer only in realtime sessions. */
export const isNamedLikeRealtimeModel = (model: string): boolean => REALTIME_MODEL.test(model)

const TRANSLATION_MODEL = /whisper/i

/**
 * Returns the direct formats that lists of models name for a model with this name, instead of
 * formats for chats. Images are not among them, because some models that generate them answer
 * chats. Gemini's models of speech are called like those for chats.
 */
export function listedDirectFormatsOf(model: string): readonly DirectFormatName[] {
  if (isNamedLikeRealtimeModel(model)) return ['realtime']
  const isChat = (name: DirectFormatName) => name === 'speech' && /gemini/i.test(model)
  const formats = testFormatsOf(model).filter((name) => name !== 'images' && !isChat(name))
  const isTranslating = formats.includes('transcriptions') && TRANSLATION_MODEL.test(model)
  return isTranslating ? [...formats, 'translations'] : formats
}

const isNamedLikeVideo = (model: string): boolean =>
  nameOfVersion(model, Object.keys(VIDEO_PRICE_UNITS)) !== undefined

/**
 * Reports whether a model with this name is likely to answer chats. Lists of models show such
 * models first. No list leaves out a model because of its name, because an operator may give a
 * model any name.
 */
export const isNamedLikeChatModel = (model: string): boolean =>
  !isNamedLikeRealtimeModel(model) &&
  !isNamedLikeVideo(model) &&
  (testFormatsOf(model).length === 0 || /gemini.*image/i.test(model))

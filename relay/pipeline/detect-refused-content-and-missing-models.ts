import {
  listOf,
  objectOf,
  objectOrEmpty,
  parsedObject,
  textOf,
} from '#relay/canonical/json-values.ts'
import type { AttemptEnd } from './attempt-end-types.ts'

type Failure = Pick<Extract<AttemptEnd, { readonly kind: 'failed' }>, 'error' | 'status' | 'body'>

/** The beginning of the message with which xAI refuses a prompt. Its code may be any text. */
const XAI_REJECTION = 'Content violates usage guidelines'

/**
 * Reports whether a provider refused the caller's content with status 403, with which providers
 * otherwise refuse the key. OpenRouter states the reasons and the flagged input in `metadata`
 * (openrouter.ai/docs/api/reference/errors-and-debugging).
 */
export function isContentRejected({ error: cause, status, body }: Failure): boolean {
  if (cause !== 'status' || status !== 403) return false
  const { error, code } = objectOrEmpty(parsedObject(body))
  if (typeof error === 'string') return typeof code === 'string' && error.startsWith(XAI_REJECTION)
  const { reasons, flagged_input: input } = objectOrEmpty(objectOrEmpty(error).metadata)
  return listOf(reasons).length > 0 && typeof input === 'string'
}

/** The code with which Zhipu reports a missing model (docs.bigmodel.cn/cn/api/api-code). */
const ZHIPU_MISSING = '1211'
/** The type with which Mistral and Perplexity report a missing model. */
const INVALID_MODEL = 'invalid_model'
const SILICON_FLOW_MISSING = 20_012
/** See developers.cloudflare.com/workers-ai/platform/errors. */
const CLOUDFLARE_MISSING = 5_007

/**
 * Reports whether the code of an error with status 400 says that the provider does not offer the
 * model. Most providers use status 404 for this. Codes that also concern another model in the
 * request, such as that of a tool, do not count, because callers could then open circuits.
 */
export function isModelMissing({ error: cause, status, body }: Failure): boolean {
  if (cause !== 'status' || status !== 400) return false
  const { error, errors, object, type, code, success } = objectOrEmpty(parsedObject(body))
  const own = objectOf(error)
  if (own !== null) return textOf(own.code) === ZHIPU_MISSING || own.type === INVALID_MODEL
  if (object === 'error') return type === INVALID_MODEL
  if (success === false) return objectOrEmpty(listOf(errors)[0]).code === CLOUDFLARE_MISSING
  return code === SILICON_FLOW_MISSING
}

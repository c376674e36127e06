import { isRelayError } from '../canonical/relay-error.ts'
import { isGemini3 } from '../conversion/gemini/model-version.ts'
import { removeForeignThinking } from '../dialects/remove-thinking-of-other-providers.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'

/** A request without the thinking of other providers, and the paths of the removed content. */
type OwnRequest = { readonly request: ChatRequest; readonly losses: readonly string[] }

const NO_LOSSES: readonly string[] = []
const NO_BODIES: readonly Buffer[] = []
const CACHED_FROM_BYTES = 16_384

/**
 * Caches the results of `withoutForeignThinking`, because a request may be prepared for several
 * channels. The result of a short request that remains unchanged is not cached, because searching
 * the request again costs less than an entry in this map.
 */
const RESULTS = new WeakMap<ChatRequest, Map<boolean, OwnRequest>>()

/**
 * Returns a request without the thinking of providers with other wire formats in the earlier
 * answers that it contains. Used for requests that are sent without a conversion. `model` is the
 * provider's name for the model.
 */
export function withoutForeignThinking(request: ChatRequest, model: string): OwnRequest {
  const needsCallSignatures = request.format.name === 'gemini' && isGemini3(model)
  const cached = RESULTS.get(request)?.get(needsCallSignatures)
  if (cached !== undefined) return cached
  const result = cut(request, needsCallSignatures)
  if (result.request === request && request.body.length < CACHED_FROM_BYTES) return result
  const results = RESULTS.get(request) ?? new Map<boolean, OwnRequest>()
  RESULTS.set(request, results.set(needsCallSignatures, result))
  return result
}

/** Returns the cached bodies of a request from which thinking was removed. */
export function cachedBodiesWithoutThinking(request: ChatRequest): readonly Buffer[] {
  const results = RESULTS.get(request)
  return results === undefined ? NO_BODIES : Array.from(results.values(), bodyOf)
}

const bodyOf = ({ request }: OwnRequest): Buffer => request.body

/**
 * Drops the cached bodies of a request from which thinking was removed, because too little memory
 * is left for them.
 */
export const forgetBodiesWithoutThinking = (request: ChatRequest): void => {
  RESULTS.delete(request)
}

function cut(request: ChatRequest, needsCallSignatures: boolean): OwnRequest {
  const unchanged = { request, losses: NO_LOSSES }
  const change = removeForeignThinking(request, needsCallSignatures)
  if (change === null) return unchanged
  const { format, model, isStream } = request
  const read = format.readChangedRequest(change.body, { model, isStream })
  if (isRelayError(read)) return unchanged
  const { body, members, tools, toolLimits } = read
  const changed = { ...request, body, members, tools, ...(toolLimits && { toolLimits }) }
  return { request: changed, losses: change.losses }
}

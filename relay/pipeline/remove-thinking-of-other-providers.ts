import { isRelayError } from '../canonical/relay-error.ts'
import { isGemini3 } from '../conversion/gemini/model-version.ts'
import { cutForeignThinking } from '../dialects/cut-thinking-of-other-providers.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'

/** A request in the format of its provider, and what was removed from it. */
type OwnRequest = { readonly request: ChatRequest; readonly losses: readonly string[] }

const NO_LOSSES: readonly string[] = []

/** Caches the results, because a request may be prepared for several channels. */
const RESULTS = new WeakMap<ChatRequest, Map<boolean, OwnRequest>>()

/**
 * Returns a request that is not converted without the thinking of other formats' providers. `model`
 * is the provider's name for the model.
 */
export function withoutForeignThinking(request: ChatRequest, model: string): OwnRequest {
  const needsCallSignatures = request.format.name === 'gemini' && isGemini3(model)
  const results = RESULTS.get(request) ?? new Map<boolean, OwnRequest>()
  RESULTS.set(request, results)
  const known = results.get(needsCallSignatures)
  if (known !== undefined) return known
  const result = cut(request, needsCallSignatures)
  results.set(needsCallSignatures, result)
  return result
}

function cut(request: ChatRequest, needsCallSignatures: boolean): OwnRequest {
  const unchanged = { request, losses: NO_LOSSES }
  const change = cutForeignThinking(request, needsCallSignatures)
  if (change === null) return unchanged
  const { format, model, isStream } = request
  const read = format.readChangedRequest(change.body, { model, isStream })
  if (isRelayError(read)) return unchanged
  const { body, members, tools, toolLimits } = read
  const changed = { ...request, body, members, tools, ...(toolLimits && { toolLimits }) }
  return { request: changed, losses: change.losses }
}

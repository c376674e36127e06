import type { RelayOptions } from '#relay/views/option-view.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { CallTerms } from './compute-hold-and-output-limit.ts'

/** The output limits of a call, in tokens per choice. */
export type OutputLimits = {
  /** The limit that the call's hold covers. Null keeps the request's own limit. */
  readonly covered: number | null
  /** The limit to send if the request has none and the provider's format requires one. */
  readonly ofFormat: number
}

/** Returns the output limits of a call. `covered` is null if the call's limit was not reduced. */
export const outputLimitsOf = (
  { messagesOutputDefaults }: RelayOptions,
  { model }: ChatRequest,
  { bounds }: CallTerms,
  covered: number | null,
): OutputLimits => {
  const ofModel =
    messagesOutputDefaults.get(model) ??
    messagesOutputDefaults.get('default') ??
    bounds.outputTokens
  return { covered, ofFormat: Math.max(1, Math.min(ofModel, bounds.outputTokens)) }
}

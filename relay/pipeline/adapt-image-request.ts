import { isRelayError, type RelayError, relayError } from '../canonical/relay-error.ts'
import { conversionLimitError } from '../conversion/conversion-limits.ts'
import { withSentImage } from '../dialects/openai-images/image-price-factor-and-tokens.ts'
import { shortTextOf } from '../dialects/read-common-request-members.ts'
import type { ChatRequest } from '../dialects/wire-format.ts'
import type { CallEndpoint } from '../providers/profiles/provider-profile.ts'
import {
  endpointOf,
  isByDeployment,
  type ProviderTarget,
} from '../providers/profiles/provider-target.ts'
import type { RelayChannel } from '../views/channel-view.ts'

/**
 * The members of a `Candidate` that determine the requested model and the format of the request.
 */
export type RequestForModel = {
  readonly request: ChatRequest
  /** The provider's name for the model, or null if the provider uses the caller's name. */
  readonly upstreamModel: string | null
}

type ImageCandidate = RequestForModel & {
  readonly channel: Pick<RelayChannel, 'target'>
  readonly body: Buffer
  readonly losses: readonly string[]
  readonly expectsImageData?: true
}

/**
 * Returns the image adapter of the endpoint that serves a candidate; undefined if the endpoint has
 * none.
 */
export const adapterOf = (
  { request: { format, model }, upstreamModel }: RequestForModel,
  target: ProviderTarget,
): CallEndpoint['adapter'] => endpointOf(target, format.name, upstreamModel ?? model)?.adapter

/**
 * Rewrites an image request for an endpoint whose request format differs from OpenAI's. The
 * returned request has the price and the output limit of the images that are requested from the
 * provider. Any other request keeps its body. If the channel maps the model, the request's output
 * limit is computed for the provider's model, except for deployments. For every endpoint,
 * `expectsImageData` is set if the caller expects images as data.
 */
export function adaptImageRequest<One extends ImageCandidate>(
  candidate: One | RelayError,
): One | RelayError {
  if (isRelayError(candidate)) return candidate
  const { body, channel, request, upstreamModel } = candidate
  const adapter = channel.target === null ? undefined : adapterOf(candidate, channel.target)
  const isDataExpected = expectsImageData(request)
  if (adapter === undefined) {
    const limited = withLimitOfModel(candidate)
    return isDataExpected ? { ...limited, expectsImageData: true } : limited
  }
  const limitError = conversionLimitError(body)
  if (limitError !== null) return limitError
  const original = {
    ...JSON.parse(body.toString('utf8')),
    ...(isDataExpected ? { response_format: 'b64_json' } : {}),
  }
  const model = upstreamModel ?? request.model
  const written = adapter.requestOf(original, model)
  if ('unsupported' in written) {
    return relayError('not_convertible', { param: String(written.unsupported) })
  }
  return {
    ...candidate,
    request: withSentImage(request, model, adapter.sentImageOf(original, model)),
    body: Buffer.from(JSON.stringify(written)),
    losses: [...candidate.losses, ...adapter.lossesOf(original, model)],
    ...(isDataExpected ? { expectsImageData: true } : {}),
  }
}

/**
 * Reports whether the caller expects images as data instead of addresses. OpenAI's streams of
 * images always contain data.
 */
function expectsImageData({ format, members, body, isStream }: ChatRequest): boolean {
  if (format.stream.streamsPlainAnswers !== true) return false
  const asked = shortTextOf(
    body,
    members.find(({ key }) => key === 'response_format'),
  )
  return asked === null ? isStream : asked === 'b64_json'
}

/**
 * Computes the output limit of a mapped model's request for the provider's model, because models
 * need different numbers of tokens for an image. The model that the caller names may need fewer
 * tokens. For a deployment, the caller's model still determines the limit, because the name of a
 * deployment does not show which model it runs.
 */
function withLimitOfModel<One extends ImageCandidate>(candidate: One): One {
  const { request, upstreamModel, channel } = candidate
  const { forModel } = request.format
  if (upstreamModel === null || forModel === undefined) return candidate
  if (channel.target !== null && isByDeployment(channel.target)) return candidate
  const limited = forModel({ ...request, model: upstreamModel })
  return { ...candidate, request: { ...limited, model: request.model } }
}

const ACCEPTED_BYTES_MAX = 256

/**
 * Returns the restricted members that are sent to an endpoint: those in `allowed`, and the members
 * of the request that the endpoint accepts in addition to its wire format (see
 * `CallEndpoint.accepts`).
 */
export function withAcceptedMembers(
  allowed: ReadonlySet<string>,
  accepts: CallEndpoint['accepts'],
  { members, body }: ChatRequest,
): ReadonlySet<string> {
  if (accepts === undefined) return allowed
  const accepted = members.flatMap(({ key, valueStart, valueEnd }) => {
    const isShort = valueEnd - valueStart <= ACCEPTED_BYTES_MAX
    const isAccepted =
      isShort && accepts.get(key)?.test(body.toString('utf8', valueStart, valueEnd)) === true
    return isAccepted ? [key] : []
  })
  return accepted.length === 0 ? allowed : new Set([...allowed, ...accepted])
}

const NONE: readonly string[] = []
/**
 * The JSON texts of default values. An endpoint can ignore a member with such a value without a
 * loss.
 */
const USUAL_VALUES: ReadonlySet<string> = new Set(['"auto"', '1'])

/**
 * Returns the names of the request's members that the endpoint ignores (see
 * `CallEndpoint.ignores`). Members that are null, have a default value or are overridden by the
 * channel are not returned.
 */
export function ignoredMembers(
  ignores: CallEndpoint['ignores'],
  { members, body }: ChatRequest,
  overrides: ReadonlyMap<string, string>,
): readonly string[] {
  if (ignores === undefined) return NONE
  return members.flatMap(({ key, kind, valueStart, valueEnd }) => {
    const isIgnored = ignores.has(key) && kind !== 'null' && !overrides.has(key)
    const isUsual = USUAL_VALUES.has(body.toString('utf8', valueStart, valueEnd))
    return isIgnored && !isUsual ? [key] : []
  })
}

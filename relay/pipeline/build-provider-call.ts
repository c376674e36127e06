import type { IncomingHttpHeaders } from 'node:http'
import { withAdminHeaders, withApiVersion } from '../adapters/model-headers-and-api-version.ts'
import { BETA_HEADER, betasIn, headerIn, withoutHeaders } from '../providers/header-list.ts'
import {
  compactPathOf,
  endpointOf,
  type ProviderTarget,
  providerCall,
} from '../providers/profiles/provider-target.ts'
import type { ProviderCall } from '../providers/provider-access-and-decoder-types.ts'
import {
  providerForm,
  providerJson,
  type StreamedBody,
} from '../uploads/write-form-for-provider.ts'
import { adapterOf } from './adapt-image-request.ts'
import type { Candidate } from './prepare-request-for-channel.ts'

/**
 * Builds the request to the provider for a candidate: a channel, with the caller's request as it
 * was prepared for this channel. `added` contains headers that the gateway itself sends.
 */
export function buildProviderCall(
  candidate: Candidate,
  target: ProviderTarget,
  incoming: IncomingHttpHeaders,
  added: readonly string[] = [],
): ProviderCall {
  const { body, request, settings, upstreamModel } = candidate
  const { format, isStream, model } = request
  const headers = [...passedHeaders(candidate, incoming), ...added]
  const path = { model: upstreamModel ?? model, isStream }
  const call = providerCall(target, format.name, path, { headers, body })
  const compactPath = format.isCompaction ? compactPathOf(target, path.model) : null
  const { secondVersionPath } = endpointOf(target, format.name, path.model) ?? {}
  const ownPath = (format.isSecondVersion ? secondVersionPath : compactPath) ?? null
  const placed = { ...call, path: ownPath ?? withApiVersion(call.path, settings) }
  if (request.files === undefined) return placed
  // An endpoint with an image adapter takes JSON, in which the files are data URLs.
  const isAdapted = adapterOf(candidate, target) !== undefined
  const upload = (isAdapted ? providerJson : providerForm)(body, request.files)
  return withUpload(placed, upload)
}

/**
 * Returns the candidate with the dropped beta features added to `dropped`: those in the caller's
 * `anthropic-beta` header that are not sent to the provider. The caller must learn of this, because
 * a member that needs a beta feature has no effect without it.
 */
export function withDroppedBetas(candidate: Candidate, incoming: IncomingHttpHeaders): Candidate {
  const betas = betasIn(String(incoming[BETA_HEADER] ?? ''))
  if (betas.length === 0 || candidate.request.format.name !== 'messages') return candidate
  const { cloud } = candidate.channel.target ?? {}
  const passed = betasIn(headerIn(passedHeaders(candidate, incoming), BETA_HEADER))
  const sent = passed.filter((beta) => cloud?.takesBeta?.(beta) ?? true)
  return { ...candidate, dropped: candidate.dropped.concat(droppedBetas(incoming, sent)) }
}

/**
 * Returns the caller's beta features that are not in `sent`, each preceded by the name of the
 * header.
 */
export function droppedBetas(
  { [BETA_HEADER]: list }: IncomingHttpHeaders,
  sent: readonly string[],
): readonly string[] {
  const kept = new Set(sent)
  const betas = betasIn(String(list ?? ''))
  return betas.filter((beta) => !kept.has(beta)).map((beta) => `${BETA_HEADER}: ${beta}`)
}

/**
 * Returns the call with `upload`, which contains the files of the caller's form, in place of the
 * JSON document that describes the form.
 */
function withUpload(call: ProviderCall, upload: StreamedBody): ProviderCall {
  const headers = withoutHeaders(call.headers, (name) => name === 'content-type')
  const ofBody = ['content-type', upload.contentType, 'content-length', `${upload.length}`]
  return { ...call, headers: [...headers, ...ofBody], upload }
}

/**
 * Returns the headers that are sent to the provider. They come from the caller and from an admin's
 * settings. If an admin's override sets `anthropic_beta` in the body, the header `anthropic-beta`
 * is left out, because for some providers the gateway copies this header to the same place in the
 * body.
 */
function passedHeaders(
  { channel, request, settings }: Candidate,
  incoming: IncomingHttpHeaders,
): readonly string[] {
  const headers = withAdminHeaders(request.format.passedHeaders(incoming, request), settings)
  if (!channel.rules.overrides.has('anthropic_beta')) return headers
  return withoutHeaders(headers, (name) => name === BETA_HEADER)
}

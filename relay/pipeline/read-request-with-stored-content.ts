import { resolveModelSuffix } from '../adapters/resolve-model-suffix.ts'
import { isRelayError, type RelayError } from '../canonical/relay-error.ts'
import { reserializeJson } from '../dialects/reserialize-json.ts'
import type { ChatRequest, PathParameters } from '../dialects/wire-format.ts'
import {
  isStored,
  resolveStoredInput,
} from '../stored-responses/find-channel-and-key-of-stored-input.ts'
import {
  type BodyLengths,
  insertStoredContent,
  UNPAID_BYTES_MAX,
} from '../stored-responses/insert-stored-content-into-request.ts'
import { errorInCallerRequest } from '../stored-responses/path-in-caller-request.ts'
import { contentOwnerOf } from '../stored-responses/response-content-store.ts'
import type { Caller } from './authenticate.ts'
import type { PermitBeforePlan } from './call-permit-before-plan.ts'
import { checkPlanIsPayable } from './check-account-can-pay.ts'
import { repeatsAdmittedCall } from './claim-idempotency-key.ts'
import { lowestTermsWithContent } from './hold-after-token-count.ts'
import type { Exchange } from './http-exchange.ts'
import { planCall } from './plan-call.ts'
import { type CallPlan, groupsOfPlan } from './plan-call-for-one-model-and-group.ts'
import type { ReceivedBody } from './receive-body-or-form.ts'
import { providerFileError } from './refuse-files-stored-at-provider.ts'
import type { RelayDeps } from './relay-deps.ts'

/**
 * Parses a request, and resolves its references to stored content. Content that the gateway stores
 * is inserted into the body, once the call is known to be possible and has a permit. A promise is
 * returned only if the request has such references.
 */
export function readRequestWithStoredContent(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  received: ReceivedBody,
  { path, permitBeforePlan }: Reading,
): ChatRequest | RelayError | Promise<ChatRequest | RelayError> {
  const request = readRequest(deps, received, path)
  if (isRelayError(request)) return request
  const fileError = providerFileError(caller, request)
  if (fileError !== null) return fileError
  if (request.stored === undefined) return request
  return withStoredContent(deps, exchange, caller, received, { path, request, permitBeforePlan })
}

type Reading = {
  readonly path: PathParameters | null
  readonly permitBeforePlan: PermitBeforePlan
}

type UnresolvedRequest = Reading & { readonly request: ChatRequest }

async function withStoredContent(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  received: ReceivedBody,
  { path, request, permitBeforePlan }: UnresolvedRequest,
): Promise<ChatRequest | RelayError> {
  const { storesConvertedResponses } = deps.views.options.options
  const body = storesConvertedResponses
    ? await insertStoredContent(deps, caller, request, received.copies, (lengths) =>
        admitLoading(deps, exchange, caller, {
          ...{ request, permitBeforePlan, lengths, body: received.body },
        }),
      )
    : null
  if (body !== null && isRelayError(body)) return body
  const complete = body === null ? request : readRequest(deps, { ...received, body }, path)
  if (isRelayError(complete)) return complete
  const insertedItems = itemsIn(complete) - itemsIn(request)
  // The inserted input was checked when the earlier request arrived, but the rules may have
  // changed.
  const fileError = providerFileError(caller, complete)
  if (fileError !== null) return errorInCallerRequest(fileError, insertedItems)
  const owner = contentOwnerOf(caller)
  const resolved = await resolveStoredInput(deps, owner, complete, storesConvertedResponses)
  if (isRelayError(resolved)) return errorInCallerRequest(resolved, insertedItems)
  return insertedItems === 0 ? resolved : { ...resolved, insertedItems }
}

type Loading = {
  readonly request: ChatRequest
  readonly permitBeforePlan: PermitBeforePlan
  readonly lengths: BodyLengths
  /** The body that the caller sent. */
  readonly body: Buffer
}

/**
 * Acquires the permit of a call before its stored content is loaded. Returns an error if the call
 * would be refused anyway, for example because its account can't pay for a body of this length. A
 * request that repeats an admitted call is not refused for lack of quota. Without this check, short
 * requests that are refused later could make the gateway load and parse megabytes for free.
 */
async function admitLoading(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  { request: { stored: _, ...request }, permitBeforePlan, lengths: { most, paid }, body }: Loading,
): Promise<RelayError | null> {
  const plan = planCall(deps.views, caller, request, deps.now())
  if (isRelayError(plan)) return plan
  const error =
    paid > UNPAID_BYTES_MAX
      ? await unpayableContentError(deps, exchange, caller, { request, plan, paid })
      : null
  if (error !== null) {
    const content = { work: request.format.name, body }
    if (!(await repeatsAdmittedCall(deps, exchange, caller, content))) return error
  }
  const sized = { ...request, body: { length: most } }
  return permitBeforePlan.acquire(deps, caller, sized, groupsOfPlan(plan))
}

type ContentToPay = Pick<Loading, 'request'> & {
  readonly plan: CallPlan
  /** The length of the body for which the caller must be able to pay. */
  readonly paid: number
}

/**
 * Returns an error if the caller can't pay for a request of `paid` bytes with its stored content;
 * otherwise null.
 */
export async function unpayableContentError(
  deps: RelayDeps,
  exchange: Exchange,
  caller: Caller,
  { request, plan, paid }: ContentToPay,
): Promise<RelayError | null> {
  return checkPlanIsPayable(deps, exchange, caller, request, plan, (one) =>
    lowestTermsWithContent(deps.views.options, one, paid),
  )
}

function itemsIn({ members }: ChatRequest): number {
  const input = members.find(({ key }) => key === 'input')
  return input?.kind === 'array' ? input.length : 1
}

/**
 * Parses the request and removes the suffix of its model's name (see `resolveModelSuffix`). In
 * pass-through mode, the request is first serialized again, and the result is sent and billed.
 */
function readRequest(
  { views }: RelayDeps,
  { body, format, files }: ReceivedBody,
  path: PathParameters | null,
): ChatRequest | RelayError {
  const { isPassThrough, adapters, storesConvertedResponses } = views.options.options
  const request = format.readRequest(body, path)
  if (isRelayError(request)) return request
  const sent = isPassThrough ? format.readRequest(reserializeJson(body), path) : request
  if (isRelayError(sent)) return sent
  const withFiles = files.size === 0 ? sent : { ...sent, files }
  const complete =
    storesConvertedResponses && isStored(sent)
      ? { ...withFiles, storesContent: true as const }
      : withFiles
  return resolveModelSuffix(complete, views.channels, adapters)
}

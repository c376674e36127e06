import type { Attempt, Digest } from '#domain/accounts/events.ts'
import type { LineEvidence } from '#domain/batches/events.ts'
import type { Outbound } from '#infra/outbound/outbound-connections.ts'
import { isSameModel } from '../canonical/check-answered-model-and-cost.ts'
import { areEvidenceTexts } from '../canonical/redact-provider-texts.ts'
import type { AttemptEnd } from '../pipeline/attempt-end-types.ts'
import {
  AttemptEvidence,
  evidenceOfRequest,
  withAnswer,
} from '../pipeline/provider-evidence-of-attempt.ts'
import type { RelayDeps } from '../pipeline/relay-deps.ts'
import {
  confidentialOf,
  isByDeployment,
  type ProviderTarget,
} from '../providers/profiles/provider-target.ts'
import { type ProviderRequest, sendTaskRequest } from '../tasks/send-request-to-task-provider.ts'
import type { LineResult } from './batch-protocol.ts'

type Submission = {
  readonly channelId: number
  readonly target: ProviderTarget
  readonly request: ProviderRequest
  /** The digest of the file with the requests, if the file was uploaded before the submission. */
  readonly file?: Digest
  readonly signal: AbortSignal
}

export type Submitted = {
  readonly end: AttemptEnd
  readonly latencyMs: number
  /**
   * Returns the record of this attempt, as the events of the batch contain it. `acceptedId` is the
   * provider's id of the batch, or null if the provider gave none.
   */
  readonly attemptOf: (acceptedId: string | null) => Promise<Attempt>
}

/**
 * Submits a batch to its provider. Collects digests and identifiers of the request and the
 * response, which later prove what was sent and received.
 */
export async function sendSubmission(
  {
    batchOutbound,
    now,
  }: Pick<RelayDeps, 'now'> & { readonly batchOutbound: Pick<Outbound, 'via'> },
  { channelId, target, request, file, signal }: Submission,
): Promise<Submitted> {
  const collected = new AttemptEvidence()
  const startedAt = performance.now()
  const sentAt = now()
  const end = await sendTaskRequest(
    batchOutbound,
    target,
    { ...request, evidence: collected },
    signal,
  )
  const latencyMs = Math.round(performance.now() - startedAt)
  const error = end.kind === 'failed' ? end.error : null
  const attemptOf = async (acceptedId: string | null): Promise<Attempt> => {
    const facts = { sentAt, error, target, answer: null, acceptedId }
    const evidence = await evidenceOfRequest(collected, facts)
    const attempt = { channelId, status: end.status, error, latencyMs }
    if (evidence === null) return attempt
    return { ...attempt, evidence: file === undefined ? evidence : { ...evidence, file } }
  }
  return { end, latencyMs, attemptOf }
}

/** The members of a model's answer that identify the answer or the system that generated it. */
const IDENTIFIERS = [
  ...['id', 'responseId', 'system_fingerprint', 'service_tier', 'trafficType', 'provider'],
]

type AnsweredLine = {
  /** The digest of the line as the provider sent it. */
  readonly received: Digest
  readonly answer: NonNullable<LineResult['answer']>
  readonly requestId: unknown
  /** The usage that the provider reported, unparsed. */
  readonly usage: unknown
  readonly target: ProviderTarget
  /**
   * The model that is billed. `sentModel` is the provider's name for this model, or undefined if it
   * is not known.
   */
  readonly model: string
  readonly sentModel: string | undefined
}

/**
 * Returns the digest and the identifiers of the result of one line that has an answer. The digest
 * and the identifiers later prove what the provider sent.
 */
export function evidenceOfLine({
  received: digest,
  answer,
  requestId,
  usage,
  target,
  model,
  sentModel,
}: AnsweredLine): { readonly evidence: LineEvidence; readonly isOtherModel: boolean } {
  const confidential = confidentialOf(target)
  const isFit = (text: unknown): text is string =>
    typeof text === 'string' && areEvidenceTexts([text], confidential)
  const identifiers = IDENTIFIERS.flatMap((name) => {
    const value = answer[name]
    return isFit(value) ? [[name, value] as const] : []
  })
  const received = {
    received: digest,
    ...(isFit(requestId) ? { requestId } : {}),
    ...(sentModel === undefined || sentModel === model ? {} : { sentModel }),
    ...(identifiers.length === 0 ? {} : { fingerprint: Object.fromEntries(identifiers) }),
  }
  const answered = answer.model ?? answer.modelVersion
  // The name of a deployment does not tell which model the deployment runs, so the models can't be
  // compared.
  const isComparable = sentModel !== undefined && !isByDeployment(target)
  const isOtherModel =
    isComparable &&
    typeof answered === 'string' &&
    answered !== '' &&
    !isSameModel(sentModel, answered)
  return { evidence: withAnswer(received, { model: answered, usage }, confidential), isOtherModel }
}

import { hash } from 'node:crypto'
import type { ProviderEvidence } from '#domain/accounts/events.ts'
import { isObject, objectOrEmpty } from '#relay/canonical/json-values.ts'
import { isSameModel } from '../canonical/check-answered-model-and-cost.ts'
import { areEvidenceTexts } from '../canonical/redact-provider-texts.ts'
import { withAnswer } from '../pipeline/provider-evidence-of-attempt.ts'
import {
  confidentialOf,
  isByDeployment,
  type ProviderTarget,
} from '../providers/profiles/provider-target.ts'

/** The last event of a response: its `response` member, and the bytes of the whole event. */
export type EndOfResponse = { readonly response: unknown; readonly bytes: Buffer }

/**
 * Collects data that later prove what the provider did in a session: the id of the request that
 * opened the session, and the model that the provider named. For each response, its id, its usage
 * and the digest of its last event are added.
 */
export class SessionEvidence {
  private readonly target: ProviderTarget
  private readonly confidential: readonly string[]
  private readonly requestId: string | null
  private model: unknown = null

  constructor(target: ProviderTarget, requestId: string | null) {
    this.target = target
    this.confidential = confidentialOf(target)
    const isFit = requestId !== null && areEvidenceTexts([requestId], this.confidential)
    this.requestId = isFit ? requestId : null
  }

  /** Stores the model that the provider names when the session begins. */
  noteSession(session: unknown): void {
    if (isObject(session)) this.model = session.model
  }

  /**
   * Returns the evidence for one call of the session. `sentAt` is in Unix milliseconds. `end` is
   * null if the call has no response or if its response did not end.
   */
  report(sentAt: number, end: EndOfResponse | null): ProviderEvidence {
    const { requestId, confidential } = this
    const { hostHash } = this.target
    const request = {
      sentAt,
      ...(hostHash === undefined ? {} : { hostHash }),
      ...(requestId === null ? {} : { requestId }),
    }
    if (end === null) return request
    const { response, bytes } = end
    const { id, usage } = objectOrEmpty(response)
    const isId = typeof id === 'string' && areEvidenceTexts([id], confidential)
    const evidence = {
      ...request,
      received: { bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') },
      ...(isId ? { fingerprint: { id } } : {}),
    }
    return withAnswer(evidence, { model: this.model, usage }, confidential)
  }

  /** Reports whether the provider named another model for the session than the requested one. */
  isOtherModel(requested: string): boolean {
    // The name of a deployment does not tell which model the deployment runs, so the models can't
    // be compared.
    if (typeof this.model !== 'string' || this.model === '') return false
    return !isByDeployment(this.target) && !isSameModel(requested, this.model)
  }
}

import type { ProviderEvidence } from '#domain/accounts/events.ts'
import type { AttemptEvidence } from '../contract/calls.ts'

export type EvidenceView = {
  readonly host: string | null
  readonly seesAll: boolean
  readonly isMapped: boolean
}

/**
 * Returns the part of an attempt's evidence that the viewer may see. The owner of a call gets the
 * digests. Of the identifiers, the owner gets only those that the response to the call contained.
 */
export function evidenceOf(
  evidence: Partial<ProviderEvidence> | undefined,
  { host, seesAll, isMapped }: EvidenceView,
): AttemptEvidence | null {
  if (evidence === undefined) return host === null ? null : { host }
  const { sentAt, sent, file, received, requestId, model, fingerprint } = evidence
  const { system_fingerprint: system } = fingerprint ?? {}
  const ofOwner = system === undefined ? undefined : { system_fingerprint: system }
  return withoutUndefined({
    sent_at: sentAt,
    sent,
    file,
    received,
    request_id: seesAll ? requestId : undefined,
    model: seesAll || !isMapped ? model : undefined,
    fingerprint: seesAll ? fingerprint : ofOwner,
    host: seesAll ? (host ?? undefined) : undefined,
  })
}

const withoutUndefined = (fields: Record<string, unknown>): AttemptEvidence =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** Matches names in a provider's usage report that reveal what the operator pays, or to whom. */
const COST_OR_PROVIDER_NAME = /cost|price|billing|upstream|provider|account/i

/**
 * Returns the usage report of the provider, or null if there is none or the viewer may not see it.
 * Reports that reveal costs are for admins and auditors only.
 */
export function usageReportOf(
  evidence: Partial<ProviderEvidence> | undefined,
  seesAll: boolean,
): string | null {
  const report = evidence?.usage ?? null
  return report !== null && (seesAll || !COST_OR_PROVIDER_NAME.test(report)) ? report : null
}

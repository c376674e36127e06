import type { ProviderEvidence } from '#domain/accounts/events.ts'
import type { AttemptEvidence } from '../contract/calls.ts'

export type EvidenceView = {
  readonly host: string | null
  readonly seesAll: boolean
  readonly isMapped: boolean
}

/**
 * Returns the evidence that the viewer may see. Owners of a call get the digests, but only those
 * identifiers that the answer to the call contained anyway.
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

/** Matches names in a usage report that reveal what the site pays, or to whom. */
const OF_OPERATOR = /cost|price|billing|upstream|provider|account/i

/**
 * Returns the usage report of the provider. Returns null if only admins and auditors may see it.
 */
export function usageReportOf(
  evidence: Partial<ProviderEvidence> | undefined,
  seesAll: boolean,
): string | null {
  const report = evidence?.usage ?? null
  return report !== null && (seesAll || !OF_OPERATOR.test(report)) ? report : null
}

import type { Findings } from '#domain/audit/findings.ts'
import type { StoredRecord } from './stored-record.ts'

/**
 * The time in milliseconds within which an event must be sealed and covered by a signature. A site
 * signs every 10 s, so a pause of this length means that its log was stopped or emptied.
 */
export const SEALED_WITHIN_MS = 120_000

/**
 * Finds the first event that no checkpoint with the required signatures covers. Without this check,
 * somebody could remove the last checkpoints and then change the events that these checkpoints
 * covered.
 */
export class Coverage {
  /**
   * The number of events in the largest tree that agrees with a checkpoint with the required
   * signatures.
   */
  size = 0
  private first: StoredRecord | null = null

  append(record: StoredRecord): void {
    this.first ??= record
  }

  cover(size: number): void {
    this.size = size
    this.first = null
  }

  /**
   * Reports the events that no checkpoint covers. Nothing is reported if the first of these events
   * is at most `SEALED_WITHIN_MS` older than the last event. The site may not have had the time to
   * sign such a recent event. `quorum` is the number of witnesses that must have signed, or null if
   * the site's signature is checked.
   */
  finish(findings: Findings, lastAt: number, quorum: number | null): void {
    const { first, size } = this
    const isCovered = first === null || lastAt - first.at <= SEALED_WITHIN_MS
    const check = 'signed-checkpoints'
    if (quorum === null)
      findings.expect(check, isCovered, first, 'EventsNotSigned', () => ({ size }))
    else findings.expect(check, isCovered, first, 'EventsNotWitnessed', () => ({ size, quorum }))
  }
}

import type { Attempt } from '#domain/accounts/events.ts'
import { confidentialOf, type ProviderTarget } from '../providers/profiles/provider-target.ts'
import type { AttemptEnd } from './attempt-end-types.ts'
import { type AnswerFacts, noteAnswer } from './provider-evidence-of-attempt.ts'
import type { UpstreamAttempt } from './upstream-attempt.ts'

/**
 * Caches the confidential texts of each target. The texts of cloud targets are not cached, because
 * they change.
 */
const confidentialTexts = new WeakMap<ProviderTarget, readonly string[]>()

function confidentialTextsOf(target: ProviderTarget): readonly string[] {
  if (target.cloud !== null) return confidentialOf(target)
  const texts = confidentialTexts.get(target) ?? confidentialOf(target)
  confidentialTexts.set(target, texts)
  return texts
}

type EndedAttempt = {
  readonly channelId: number
  readonly target: ProviderTarget
  readonly end: AttemptEnd
  /** The time at which the attempt began, in Unix milliseconds. */
  readonly sentAt: number
  readonly latencyMs: number
}

/** Collects the attempts of a call for the event that ends the call. */
export class AttemptList {
  readonly items: Attempt[] = []
  /** The confidential texts of the last attempt's target. No event may contain them. */
  private confidential: readonly string[] = []

  /**
   * Adds an attempt that has ended, with its evidence if its request was sent. Returns a promise
   * only if the digest of a long request is still being computed.
   */
  add(attempt: UpstreamAttempt, ended: EndedAttempt): Promise<void> | null {
    const { evidence } = attempt
    if (evidence.hasSentDigest) {
      this.addWithEvidence(attempt, ended)
      return null
    }
    return evidence.awaitSentDigest().then(() => this.addWithEvidence(attempt, ended))
  }

  private addWithEvidence(
    { evidence, isSent }: UpstreamAttempt,
    { channelId, target, end, sentAt, latencyMs }: EndedAttempt,
  ): void {
    const error = end.kind === 'plain' ? null : end.error
    const attempt = { channelId, status: end.status, error, latencyMs }
    this.confidential = confidentialTextsOf(target)
    const report = isSent ? evidence.finish(sentAt, this.confidential, target.hostHash) : null
    this.items.push(report === null ? attempt : { ...attempt, evidence: report })
  }

  /**
   * Adds `facts`, the model and the usage that the answer states, to the evidence of the last
   * attempt. Does nothing if this attempt has no evidence.
   */
  noteAnswer(facts: AnswerFacts): void {
    const evidence = this.items.at(-1)?.evidence
    if (evidence !== undefined) noteAnswer(evidence, facts, this.confidential)
  }

  /**
   * Marks the last attempt as one in which the provider rejected the site's account. Such
   * rejections can disable the channel.
   */
  blameAccount(): void {
    this.amend({ isAccounts: true })
  }

  private amend(change: Partial<Attempt>): void {
    const last = this.items.at(-1)
    if (last !== undefined) Object.assign(last, change)
  }
}

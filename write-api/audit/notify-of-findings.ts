import { setTimeout as delay } from 'node:timers/promises'
import { auditJobsDecider, needsNotice, type VerificationJob } from '#domain/audit/decide.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { detailIn, type Finding } from '#domain/audit/findings.ts'
import { messageDecider } from '#domain/messages/decide.ts'
import { messageStream, rangesOf } from '#domain/messages/events.ts'
import type { Language } from '#infra/http/language.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { activeAdminIds } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { type MessageContent, storeText } from '../messages/send-message.ts'

const LOOK_EVERY_MS = 5_000

/** Starts to notify the admins of the findings of verifications. One process does this. */
export const startFindingNotices = (deps: Deps): HeldLease =>
  deps.core.leases.hold('audit-notices', async (_lease, lost) => {
    while (!lost.aborted) {
      await notifyOfFindings(deps).catch((error: unknown) => {
        const fields = { reason: reasonOf(error) }
        warnThrottled(deps.core.log, fields, 'a notice of findings will be sent again')
      })
      await delay(LOOK_EVERY_MS, undefined, { signal: lost, ref: false }).catch(() => {})
    }
  })

/**
 * Sends a message about the last verification with findings of which the admins do not know yet.
 * The same append records the notice, so that it is sent once.
 */
export async function notifyOfFindings({ core, nextIds }: Deps): Promise<void> {
  const { actors, db, vault, now } = core
  const job = await actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, ({ verifications }) =>
    verifications.findLast(needsNotice),
  )
  if (job === undefined) return
  const { id } = job.request
  const recipients = rangesOf(await activeAdminIds(db))
  if (recipients.length === 0) return
  const context = { actor: 'system:audit', cause: id, at: now() }
  await nextIds('message', async (messageId) => {
    const textRef = await storeText(vault, messageId, noticeOf(job))
    const message = { type: 'SendMessage', messageId, recipients, format: 'markdown', textRef }
    const notify = { type: 'NotifyOfFindings', id } as const
    const result = await actors.handleTogether(
      [
        { decider: auditJobsDecider, stream: AUDIT_JOBS_STREAM, command: notify },
        { decider: messageDecider, stream: messageStream(messageId), command: message },
      ],
      context,
    )
    if (!result.isDone) await vault.deleteSecret(textRef)
    return result
  })
}

const LISTED_MAX = 10

/** Removes characters that could be interpreted as markup. */
const plain = (text: string): string => text.replace(/[^\w\p{Script=Han} .,:;()#=，：（）-]/gu, '')

function listOf(findings: readonly Finding[], language: Language): string {
  const lines = findings.slice(0, LISTED_MAX).map((finding) => {
    const { check, position, stream } = finding
    const place = [position === null ? '' : `#${position}`, stream ?? ''].join(' ').trim()
    return `- \`${check}\` ${plain(place)}: ${plain(detailIn(language, finding))}`
  })
  return lines.join('\n')
}

/** Returns the text of the notice in both languages. */
function noticeOf({ result }: VerificationJob): MessageContent {
  const { findingCount = 0, findings = [], toPosition = 0 } = result ?? {}
  return {
    title: `校验发现 ${findingCount} 个问题 / A verification has ${findingCount} findings`,
    content:
      `截至位置 ${toPosition} 的事件校验发现 ${findingCount} 个问题。请在“审计”中查看。\n\n` +
      `${listOf(findings, 'zh')}\n\n` +
      `The verification of the events up to position ${toPosition} has ${findingCount} ` +
      `findings. See the audit section.\n\n${listOf(findings, 'en')}`,
  }
}

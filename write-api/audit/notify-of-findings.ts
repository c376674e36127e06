import {
  type AuditJobsState,
  auditJobsDecider,
  needsNotice,
  type VerificationJob,
} from '#domain/audit/decide-audit-jobs.ts'
import type { RefusedCosignature } from '#domain/audit/decide-witness-refusals.ts'
import { AUDIT_JOBS_STREAM } from '#domain/audit/events.ts'
import { detailIn, type Finding } from '#domain/audit/findings.ts'
import { messageDecider } from '#domain/messages/decide.ts'
import { messageStream, rangesOf } from '#domain/messages/events.ts'
import { pauseUntilCommit } from '#infra/event-store/pause-idle-work-until-next-event.ts'
import type { Language } from '#infra/http/request-language.ts'
import type { HeldLease } from '#infra/leases/exclusive-leases.ts'
import { reasonOf, warnThrottled } from '#infra/telemetry/log.ts'
import { activeAdminIds } from '#projections/users/query.ts'
import type { Deps } from '../action.ts'
import { type MessageContent, restoreDeletedText, storeText } from '../messages/send-message.ts'

const POLL_INTERVAL_MS = 5_000
/** The maximum pause between two checks in milliseconds, while no event is committed. */
const IDLE_MS_MAX = 30_000

/**
 * Starts the background job that notifies the admins when a verification has findings or a witness
 * refuses to cosign. A lease ensures that only one process runs this job.
 */
export const startFindingNotices = (deps: Deps): HeldLease =>
  deps.core.leases.hold('audit-notices', async (_lease, lost) => {
    const { store } = deps.core
    while (!lost.aborted) {
      let seen = store.commits?.position() ?? null
      await notifyOfFindings(deps).catch((error: unknown) => {
        seen = null
        const fields = { reason: reasonOf(error) }
        warnThrottled(
          deps.core.log,
          fields,
          'sending a notice of findings failed; it will be retried',
        )
      })
      const pause = { everyMs: POLL_INTERVAL_MS, idleMs: IDLE_MS_MAX, signal: lost }
      await pauseUntilCommit(store, { seen, ...pause })
    }
  })

/**
 * Sends the admins a message about a problem that they were not notified of yet. This is the first
 * refusal of a witness or, if there is no such refusal, the last verification with findings in the
 * history. Sends nothing if there is no such problem, or if there is no active admin. One append
 * sends the message and records the notification, so that the message is sent only once.
 */
export async function notifyOfFindings({ core, nextIds }: Deps): Promise<void> {
  const { actors, db, vault, now } = core
  const notice = await actors.ask(auditJobsDecider, AUDIT_JOBS_STREAM, nextNotice)
  if (notice === null) return
  const { id, content } = notice
  const recipients = rangesOf(await activeAdminIds(db))
  if (recipients.length === 0) return
  const context = { actor: 'system:audit', cause: id, at: now() }
  await nextIds('message', async (messageId) => {
    const textRef = await storeText(vault, messageId, content)
    const message = { type: 'SendMessage', messageId, recipients, format: 'markdown', textRef }
    const notify = { type: 'NotifyOfFindings', id } as const
    const result = await actors.handleTogether(
      [
        { decider: auditJobsDecider, stream: AUDIT_JOBS_STREAM, command: notify },
        { decider: messageDecider, stream: messageStream(messageId), command: message },
      ],
      context,
    )
    const recorded = { messageId, text: { format: 'markdown', textRef }, content } as const
    if (result.isDone) await restoreDeletedText(core, recorded, context)
    else await vault.deleteSecret(textRef)
    return result
  })
}

type Notice = { readonly id: string; readonly content: MessageContent }

function nextNotice({ verifications, refusals }: AuditJobsState): Notice | null {
  const refusal = refusals.find(({ isNotified }) => !isNotified)
  if (refusal !== undefined) return { id: refusal.id, content: refusalNotice(refusal) }
  const job = verifications.findLast(needsNotice)
  return job === undefined ? null : { id: job.request.id, content: noticeOf(job) }
}

function refusalNotice({ witness, size }: RefusedCosignature): MessageContent {
  // The name of a witness's key has no spaces and is shown as code.
  const name = `\`${witness.replace(/[^\w.:/@-]/g, '')}\``
  return {
    title: '见证人拒绝联署 / A witness refuses to sign the history',
    content:
      `见证人 ${name} 此前签名的 ${size} 个事件与本站当前的历史不一致，因此拒绝联署。` +
      '历史可能被改写，或数据库恢复自旧备份。请在“审计”中查看。\n\n' +
      `The witness ${name} refuses to sign: it has signed a different history of ${size} events. ` +
      'The history may have been rewritten, or the database restored from an old backup. ' +
      'See the audit section.',
  }
}

const LISTED_MAX = 10

/** Removes characters that Markdown could interpret as markup. */
const withoutMarkup = (text: string): string =>
  text.replace(/[^\w\p{Script=Han} .,:;()#=，：（）-]/gu, '')

function listOf(findings: readonly Finding[], language: Language): string {
  const unacknowledged = findings.filter(({ isAcknowledged }) => isAcknowledged !== true)
  const lines = unacknowledged.slice(0, LISTED_MAX).map((finding) => {
    const { check, position, stream } = finding
    const place = [position === null ? '' : `#${position}`, stream ?? ''].join(' ').trim()
    return `- \`${check}\` ${withoutMarkup(place)}: ${withoutMarkup(detailIn(language, finding))}`
  })
  return lines.join('\n')
}

/** Returns the title and text of the message about a verification in both languages. */
function noticeOf({ result }: VerificationJob): MessageContent {
  const { findingCount = 0, findings = [], toPosition = 0 } = result ?? {}
  return {
    title: `核验发现 ${findingCount} 个问题 / A verification has ${findingCount} findings`,
    content:
      `截至位置 ${toPosition} 的事件核验发现 ${findingCount} 个问题。请在“审计”中查看。\n\n` +
      `${listOf(findings, 'zh')}\n\n` +
      `The verification of the events up to position ${toPosition} has ${findingCount} ` +
      `findings. See the audit section.\n\n${listOf(findings, 'en')}`,
  }
}

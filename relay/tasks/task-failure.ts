import { type Denial, deny } from '#relay/canonical/denial.ts'
import { DENIAL_ANSWERS } from '#relay/canonical/denial-answers.ts'
import { providerErrorBody, redact } from '#relay/dialects/openai-chat/error-body.ts'
import { accountFaultOf } from '#relay/pipeline/account-fault.ts'
import { DENIAL_OF } from '#relay/pipeline/failure.ts'
import { confidentialTo } from '#relay/views/channel-view.ts'
import type { TaskDeps } from './task-deps.ts'
import type { Last } from './try-channels.ts'

/** Why no provider took a task: in its own words (`refusal`), or in ours. */
export type TaskFailure = { readonly status: number } & (
  | { readonly refusal: { readonly code: number | null; readonly words: string } }
  | { readonly refusal: null; readonly denial: Denial }
)

export function failureOf(
  { views }: Pick<TaskDeps, 'views'>,
  last: Last | null,
  model: string,
): TaskFailure {
  if (last === null) return denied(deny('no_channel', { subject: model, retryAfterSeconds: 10 }))
  const { end, taken, channel } = last
  const isHidden = views.options.options.isUpstreamErrorHidden
  const known = confidentialTo(channel)
  if (taken !== null && !taken.isTaken) {
    const words = isHidden ? null : taken.words
    const { en } = DENIAL_ANSWERS.upstream_error
    const refusal = { code: taken.code, words: words === null ? en : redact(words, known) }
    return { status: 200, refusal }
  }
  if (end.kind !== 'failed') return denied(deny('upstream_format'))
  if (end.error !== 'status') return denied(deny(DENIAL_OF[end.error]))
  if (accountFaultOf(end) !== null) return denied(deny('upstream_account'))
  const status = end.status ?? 502
  if (status < 400 || status >= 500) return denied(deny('upstream_error'))
  const { message } = providerErrorBody(end.body, status, { isHidden, known }).error
  return { status, refusal: { code: null, words: message } }
}

const denied = (denial: Denial): TaskFailure => ({
  status: DENIAL_ANSWERS[denial.denied].status,
  refusal: null,
  denial,
})

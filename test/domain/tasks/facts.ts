import type { Sealed } from '#domain/shared/event.ts'
import type { WireQuota } from '#domain/shared/quota.ts'
import { type ReportTask, taskDecider } from '#domain/tasks/decide.ts'
import type { OpenStatus, TaskEvent, TaskStatus } from '#domain/tasks/events.ts'
import { specificationOf } from '#test/support/given-when-then.ts'

export const { given } = specificationOf(taskDecider)

export const TASK = '019ab0de-2c00-7000-8000-0000000000a1'
export const NOW = 1_795_248_000_000
export const HOUR = 3_600_000
export const sealed = (text: string): Sealed => `sealed:${text}` as Sealed

const OF = { task: TASK, userId: 7, kind: 'drawing' } as const
const TERMS = {
  ...OF,
  tokenId: 3,
  platform: 'midjourney',
  action: 'IMAGINE',
  model: 'mj_imagine',
  group: 'default',
  prompt: sealed('prompt'),
  origin: null,
  isNotified: true,
  submittedAt: NOW,
}
const AT = { channelId: 4, keyRef: 'key-1', upstreamId: '1710000000000000' } as const

export const submit = { type: 'SubmitTask', ...TERMS, hold: 50_000n } as const
export const submitted = (more: { readonly isNotified?: boolean } = {}): TaskEvent => ({
  type: 'TaskSubmitted',
  v: 1,
  data: { ...TERMS, hold: 50_000 as WireQuota, ...more },
})

const ANSWER = { code: 22, description: sealed('in queue') }
export const accept = { type: 'AcceptTask', ...AT, ...ANSWER, status: 'SUBMITTED' } as const
export const accepted = (status: OpenStatus = 'SUBMITTED'): TaskEvent => ({
  type: 'TaskAccepted',
  v: 1,
  data: { ...OF, ...AT, ...ANSWER, status },
})
/** Accepted because of a callback that arrived before the provider's answer. */
export const acceptedUnasked = (more: { readonly attempts?: typeof ATTEMPTS } = {}): TaskEvent => ({
  type: 'TaskAccepted',
  v: 1,
  data: { ...OF, ...AT, code: 1, description: null, status: 'SUBMITTED', ...more },
})

export const ATTEMPTS = [{ channelId: 4, status: 504, error: 'status', latencyMs: 60_000 }]
const SENT_TO = { channelId: 4, keyRef: 'key-1', attempts: ATTEMPTS }
export const noteUnconfirmed = { type: 'MarkUnconfirmed', ...SENT_TO } as const
export const unconfirmed = (): TaskEvent => ({
  type: 'TaskUnconfirmed',
  v: 1,
  data: { ...OF, ...SENT_TO },
})

export const report = (status: TaskStatus, more: Partial<ReportTask> = {}): ReportTask => ({
  type: 'ReportTask',
  ...AT,
  status,
  at: NOW + 60_000,
  ...more,
})
export const begun = (): TaskEvent => ({
  type: 'TaskStatusChanged',
  v: 1,
  data: { ...OF, status: 'IN_PROGRESS', startedAt: NOW + 60_000 },
})

export const RESULT = {
  imageUrl: sealed('url'),
  promptEn: sealed('prompt-en'),
  result: sealed('result'),
}
export const succeeded = (startedAt: number | null, finishedAt = NOW + 90_000): TaskEvent => ({
  type: 'TaskSucceeded',
  v: 1,
  data: { ...OF, channelId: 4, startedAt, finishedAt, ...RESULT },
})
export const succeededAt = (finishedAt: number): TaskEvent => succeeded(null, finishedAt)

type Failed = Extract<TaskEvent, { readonly type: 'TaskFailed' }>
export const failed = (more: Partial<Failed['data']>): TaskEvent => ({
  type: 'TaskFailed',
  v: 1,
  data: {
    ...OF,
    channelId: 4,
    code: null,
    cause: 'failed',
    failReason: null,
    startedAt: null,
    finishedAt: NOW + 90_000,
    ...more,
  },
})

import type { TaskEvent, TaskKind } from '#domain/tasks/events.ts'
import { type Given, NOW, sealed } from './fixture.ts'

type Of = { readonly task: string; readonly userId: number; readonly kind: TaskKind }
type DataOf<Type extends TaskEvent['type']> = Extract<TaskEvent, { readonly type: Type }>['data']

const fact = <Type extends TaskEvent['type']>(
  type: Type,
  { task, userId, kind }: Of,
  data: Omit<DataOf<Type>, keyof Of>,
): Given => ({ stream: `task-${task}`, type, v: 1, data: { task, userId, kind, ...data } })

export const aDrawing = (task: string, userId: number): Of => ({ task, userId, kind: 'drawing' })
export const aSong = (task: string, userId: number): Of => ({ task, userId, kind: 'music' })

export const aVideo = (task: string, userId: number): Of => ({ task, userId, kind: 'video' })

export const submitted = (of: Of, more: Partial<DataOf<'TaskSubmitted'>> = {}): Given =>
  fact('TaskSubmitted', of, {
    tokenId: 1,
    platform: of.kind === 'drawing' ? 'midjourney' : 'suno',
    action: of.kind === 'drawing' ? 'IMAGINE' : 'MUSIC',
    model: of.kind === 'drawing' ? 'mj_imagine' : 'suno_music',
    group: 'default',
    hold: 50_000 as DataOf<'TaskSubmitted'>['hold'],
    prompt: sealed('a cat on a wall'),
    origin: null,
    isNotified: false,
    submittedAt: NOW,
    ...more,
  })

export const accepted = (of: Of, more: Partial<DataOf<'TaskAccepted'>> = {}): Given =>
  fact('TaskAccepted', of, {
    channelId: 1,
    keyRef: 'channel-key-1',
    upstreamId: `up-${of.task}`,
    code: 1,
    description: sealed('Submit success'),
    status: 'SUBMITTED',
    ...more,
  })

export const routed = (of: Of, to: Omit<DataOf<'TaskRouted'>, keyof Of>): Given =>
  fact('TaskRouted', of, to)

export const unconfirmed = (of: Of, data: Omit<DataOf<'TaskUnconfirmed'>, keyof Of>): Given =>
  fact('TaskUnconfirmed', of, data)

export const begun = (of: Of): Given =>
  fact('TaskStatusChanged', of, { status: 'IN_PROGRESS', startedAt: NOW + 5_000 })

export const succeeded = (of: Of, more: Partial<DataOf<'TaskSucceeded'>> = {}): Given =>
  fact('TaskSucceeded', of, {
    channelId: 1,
    startedAt: NOW + 5_000,
    finishedAt: NOW + 95_000,
    imageUrl: of.kind === 'drawing' ? sealed('https://pictures.example/cat.png') : null,
    promptEn: of.kind === 'drawing' ? sealed('cat, wall') : null,
    result: null,
    ...more,
  })

export const deleted = (of: Of): Given => fact('TaskDeleted', of, { deletedAt: NOW + 99_000 })

export const failed = (of: Of, more: Partial<DataOf<'TaskFailed'>> = {}): Given =>
  fact('TaskFailed', of, {
    channelId: 1,
    code: null,
    cause: 'failed',
    failReason: sealed('banned word'),
    startedAt: null,
    finishedAt: NOW + 30_000,
    ...more,
  })

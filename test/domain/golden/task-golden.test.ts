import { describe } from 'vitest'
import { taskDecider } from '#domain/tasks/decide.ts'
import type {
  TaskAccepted,
  TaskFailed,
  TaskSubmitted,
  TaskSucceeded,
  TaskUnconfirmed,
} from '#domain/tasks/events.ts'
import { accept, NOW, noteUnconfirmed, RESULT, report, sealed, submit } from '../tasks/facts.ts'
import { golden, story } from './story.ts'

const submitted = (golden('task-submitted-v1') as TaskSubmitted).data
const { task, userId, kind, status, ...place } = (golden('task-accepted-v1') as TaskAccepted).data
const unconfirmed = (golden('task-unconfirmed-v1') as TaskUnconfirmed).data
const { channelId, keyRef, attempts } = unconfirmed
const failReason = sealed('banned')
const refuse = {
  type: 'FailTask',
  cause: 'refused',
  channelId: null,
  code: 24,
  failReason,
  at: NOW + 90_000,
} as const
/** The record of a task that no provider accepted. */
const refused = {
  submitted,
  place: null,
  sentTo: null,
  status: 'FAILURE',
  startedAt: null,
  end: (golden('task-failed-v1') as TaskFailed).data,
} as const

describe('the events of tasks, as first recorded', () => {
  story(
    'a drawing',
    taskDecider,
    [
      ['task-submitted-v1', submit],
      ['task-accepted-v1', accept],
      ['task-status-changed-v1', report('IN_PROGRESS')],
      ['task-succeeded-v1', report('SUCCESS', { at: NOW + 90_000, ...RESULT })],
    ],
    {
      record: {
        submitted,
        place,
        sentTo: null,
        status: 'SUCCESS',
        startedAt: NOW + 60_000,
        end: (golden('task-succeeded-v1') as TaskSucceeded).data,
      },
    },
  )
  story(
    'a drawing that no provider accepted',
    taskDecider,
    [
      ['task-submitted-v1', submit],
      ['task-failed-v1', refuse],
    ],
    { record: refused },
  )
  story(
    'a task that was deleted',
    taskDecider,
    [
      ['task-submitted-v1', submit],
      ['task-failed-v1', refuse],
      ['task-deleted-v1', { type: 'DeleteTask', at: NOW + 100_000 }],
    ],
    { record: { ...refused, deletedAt: NOW + 100_000 } },
  )
  story(
    'a drawing whose answer was lost',
    taskDecider,
    [
      ['task-submitted-v1', submit],
      ['task-routed-v1', { type: 'RouteTask', channelId: 4, keyRef: 'key-1' }],
      ['task-unconfirmed-v1', noteUnconfirmed],
    ],
    {
      record: {
        submitted,
        place: null,
        sentTo: { channelId, keyRef, attempts },
        status: 'NOT_START',
        startedAt: null,
        end: null,
      },
    },
  )
})

import { expect, it } from 'vitest'
import {
  DRAWINGS,
  songLengthText,
  withPushes,
} from '#console/features/task-logs/task-kinds-and-live-updates.ts'
import { drawing, song } from './fake-tasks.ts'

const PAGE = {
  items: [drawing(3), drawing(2, { finish_time: 99 })],
  ...{ page: 0, total: 2, is_total_capped: false },
}
const after = (...pushes: Parameters<typeof withPushes>[1]) => withPushes(PAGE, pushes, DRAWINGS)

it('a live event updates the task of the page', () => {
  const task = drawing(3, { status: 'SUCCESS' })
  const { page, hasNew } = after({ kind: 'drawing', id: 3, task })
  expect([page.items, hasNew]).toEqual([[task, PAGE.items[1]], false])
})

it('a progress event updates a running task, but not a finished one', () => {
  const tasks = [3, 2, 77].map((id) => ({ id: `mj-${id}`, progress: '64%' }))
  const { page } = after({ kind: 'progress', tasks })
  expect(page.items.map(({ progress }) => progress)).toEqual(['64%', PAGE.items[1]?.progress])
})

it('an event for another kind of task or for another page changes nothing', () => {
  const other = after({ kind: 'music', id: 3, task: song(3) })
  const older = after({ kind: 'drawing', id: 1, task: drawing(1) })
  for (const { page, hasNew } of [other, older]) expect([page, hasNew]).toEqual([PAGE, false])
  expect(after({ kind: 'drawing', id: 4, task: drawing(4) }).hasNew).toBe(true)
})

it('the length of a song is shown in minutes', () => {
  expect([0, 5, 125.4, 600].map(songLengthText)).toEqual(['', '0:05', '2:05', '10:00'])
})

import { expect, it } from 'vitest'
import { codedError } from '#domain/shared/coded-error.ts'
import { taskDecider } from '#domain/tasks/decide.ts'
import { accepted, NOW, submitted, succeeded, TASK } from './facts.ts'

const command = { type: 'DeleteTask', at: NOW + 100_000 } as const
const stateAfter = (...events: Parameters<typeof taskDecider.evolve>[1][]) =>
  events.reduce(taskDecider.evolve, taskDecider.initialState())
const decideAfter = (...events: Parameters<typeof stateAfter>) =>
  taskDecider.decide(command, stateAfter(...events))

it('an open task is not deleted, because it is still paid for', () => {
  expect(decideAfter(submitted(), accepted())).toEqual(codedError('TaskNotOver'))
})

it('an ended task is deleted once', () => {
  const ended = [submitted(), accepted(), succeeded(null)] as const
  const deleted = {
    type: 'TaskDeleted',
    v: 1,
    data: { task: TASK, userId: 7, kind: 'drawing', deletedAt: NOW + 100_000 },
  } as const
  expect(decideAfter(...ended)).toEqual([deleted])
  expect(decideAfter(...ended, deleted)).toEqual([])
})

import { describe, expect, it } from 'vitest'
import {
  hold,
  LIVE_ROWS_MAX,
  NO_LIVE_ROWS,
  receive,
  release,
  withPage,
} from '#console/features/usage-log/live-rows.ts'
import { logRow } from './fake-usage-log.ts'

const rowsOf = (...ids: number[]) => ids.map((id) => logRow(id))
/** A page of more than these rows. */
const below = (...ids: number[]) => ({ rows: rowsOf(...ids), isWhole: false })
const ids = (rows: readonly { id: number }[]) => rows.map(({ id }) => id)
const HELD = hold(NO_LIVE_ROWS, true)

describe('the live rows of the usage log', () => {
  it('are shown newest first above the page, each once', () => {
    const live = receive(receive(NO_LIVE_ROWS, rowsOf(4, 5), below(3)), rowsOf(5, 6), below(3))
    expect(ids(live.shown)).toEqual([6, 5, 4])
    expect(ids(withPage(live, below(5, 4, 3)))).toEqual([6, 5, 4, 3])
  })

  it('ignore rows that the page already has', () => {
    expect(receive(NO_LIVE_ROWS, rowsOf(2, 3), below(3, 2))).toBe(NO_LIVE_ROWS)
  })

  it('insert a late row once in its place, and omit a row of a later page', () => {
    const page = below(9, 7, 3)
    const late = receive(receive(NO_LIVE_ROWS, rowsOf(8, 10), page), rowsOf(5, 7, 8, 11, 2), page)
    expect(ids(late.shown)).toEqual([11, 10, 8, 5])
    expect(ids(withPage(late, page))).toEqual([11, 10, 9, 8, 7, 5, 3])
    expect(ids(withPage(late, below(11, 10, 9)))).toEqual([11, 10, 9])
    const held = receive(receive(HELD, rowsOf(10), page), rowsOf(8), page)
    expect(ids(withPage(release(held), page))).toEqual([10, 9, 8, 7, 3])
    const whole = { rows: rowsOf(9), isWhole: true }
    expect(ids(withPage(receive(NO_LIVE_ROWS, rowsOf(4), whole), whole))).toEqual([9, 4])
  })

  it('do not move while they are held, and are all shown once they are released', () => {
    const waiting = receive(receive(HELD, rowsOf(4), below(3)), rowsOf(5, 6), below(3))
    expect(ids(waiting.shown)).toEqual([])
    expect(ids(waiting.pending)).toEqual([6, 5, 4])
    const shown = hold(waiting, false)
    expect(ids(shown.shown)).toEqual([6, 5, 4])
    expect(shown.pending).toEqual([])
  })

  it('are marked as new only when they arrived last', () => {
    const first = receive(NO_LIVE_ROWS, rowsOf(4, 5), below(3))
    const isFresh = (live: typeof first) =>
      live.shown.filter(({ id }) => id > live.freshAbove).map(({ id }) => id)
    expect(isFresh(first)).toEqual([5, 4])
    expect(isFresh(receive(first, rowsOf(6), below(3)))).toEqual([6])
    expect(isFresh(release(receive(hold(first, true), rowsOf(6, 7), below(3))))).toEqual([7, 6])
  })

  it('have a maximum number, and report when more were waiting', () => {
    const many = Array.from({ length: LIVE_ROWS_MAX + 10 }, (_, index) => logRow(index + 1))
    const overfull = receive(HELD, many, below())
    expect(overfull.pending).toHaveLength(LIVE_ROWS_MAX)
    expect(overfull.pending[0]?.id).toBe(LIVE_ROWS_MAX + 10)
    expect(overfull.isOverfull).toBe(true)
    expect(receive(overfull, rowsOf(LIVE_ROWS_MAX + 11), below()).dropped).toBe(11)
    expect(release(overfull).dropped).toBe(0)
    const shown = receive(NO_LIVE_ROWS, many, below())
    expect(shown.shown).toHaveLength(LIVE_ROWS_MAX)
    expect(shown.isOverfull).toBe(false)
  })
})
